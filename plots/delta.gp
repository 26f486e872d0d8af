# SPDX-License-Identifier: GPL-3.0-or-later
#
# delta.gp - by how much does each policy differ from the baseline?

shown = points < 6 ? points : 6
columns = shown < 3 ? shown : 3
rows = (shown + 2) / 3
others = policies - 1
band = metrics * (others < 6 ? 14 * others + 20 : 90)
tall = band + 95                        # with axis, and the next row's title
body = rows * tall - 20
entries = others
entry_chars = 0
do for [p = 1:policies] {
    entry_chars = p != baseline && strlen(policy[p]) > entry_chars ? strlen(policy[p]) : entry_chars
}
heading = 'Difference to '.policy[baseline].', in percent'
note = 'Each seed is compared with itself: the same jobs under both policies. Less is better, '.\
       "but for jobs done and GPU\nutilization.".\
       (seeds < 2 ? '' : " Whiskers: 95% intervals of the mean difference; ".\
        "one across the line of 0 may be chance.").\
       (shown < points ? sprintf(' The first %d points.', shown) : '')
load 'style.gp'

left = 170
wide = (width - left - 20.) / columns
step(w) = w > 80 ? 50 : w > 32 ? 20 : w > 16 ? 10 : w > 6 ? 5 : w > 3 ? 2 : 1
order(p) = p < baseline ? p : p - 1             # among the others
y(m, p) = m + (order(p) - (others + 1) / 2.) * 0.8 / others

plot for [p = 1:policies] p == baseline ? 1 / 0 : NaN with points pointtype mark[nth(p)] \
         pointsize 1.4 linecolor rgb colour[nth(p)] title p == baseline ? '' : policy[p]
eval panels
set xrange [-widest * 1.06 : widest * 1.06]
set yrange [metrics + 0.6 : 0.4]
unset ytics
set grid noytics xtics
set format x '%+.0f'
set xlabel 'difference, percent'
set xtics step(widest)
set border 1
do for [m = 1:metrics - 1] {
    set arrow 200 + m from graph 0, first m + 0.5 to graph 1, first m + 0.5 nohead \
        linecolor rgb line linewidth 0.7
}
set arrow 300 from first 0, graph 0 to first 0, graph 1 nohead linecolor rgb ink linewidth 1.2
do for [t = 1:shown] {
    panel_column = (t - 1) % 3
    panel_row = (t - 1) / 3
    set lmargin at screen across(left + panel_column * wide)
    set rmargin at screen across(left + (panel_column + 1) * wide - 30)
    set tmargin at screen down(top + panel_row * tall)
    set bmargin at screen down(top + panel_row * tall + band)
    set title points > 1 ? point_name[t] : ''
    do for [m = 1:metrics] {
        unset label 100 + m
        if (panel_column == 0) {
            set label 100 + m metric[m] at graph 0, first m right offset -1, 0 textcolor rgb ink
        }
    }
    plot for [p = 1:policies] data using \
             ($1 == t && $2 == p ? $4 : NaN):(y($3, p)):5:6 \
             with xerrorbars pointtype mark[nth(p)] pointsize 1.2 linewidth 1.6 \
             linecolor rgb colour[nth(p)] notitle
}
unset multiplot
