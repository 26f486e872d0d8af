# SPDX-License-Identifier: GPL-3.0-or-later
#
# delta.gp - by how much does each policy differ from the baseline?

most = stacked && policies > 3 && most_shown > 2 ? 2 : most_shown    # tall panels
shown = points < most ? points : most
columns = shown < abreast ? shown : abreast
rows = (shown + abreast - 1) / abreast
others = policies - 1
band = metrics * (others < 6 ? 14 * others + 20 : 11 * others + 20)
tall = band + (stacked ? 125 : 105)                        # with axis, and the next row's title
body = rows * tall - 20
entries = others
entry_chars = 0
do for [p = 1:policies] {
    entry_chars = p != baseline && strlen(policy[p]) > entry_chars ? strlen(policy[p]) : entry_chars
}
heading = 'Difference to '.policy[baseline].', in percent'
note = 'Each seed is compared with itself: the same jobs under both policies. JCT: job '.\
       'completion time. Less is better, but for jobs done and GPU utilization.'.\
       ' What lies beyond an axis stands at its end, with its number.'.\
       (seeds < 2 || fixed ? '' : ' Whiskers: 95% intervals of the mean difference; '.\
        'one across the line of 0 may be chance, one that ends in an arrow goes on.').\
       (lost ? ' Some jobs were not done: means over the others are not compared, and a row of '.\
        'such means is empty.' : '')
load 'style.gp'

metric_chars = 0
do for [m = 1:metrics] { metric_chars = most(metric_chars, strlen(metric[m])) }
left = 40 + 8.1 * metric_chars
wide = (width - left - 20.) / columns
span = highest - lowest
step(w) = w > 200 ? 50 : w > 100 ? 25 : w > 50 ? 20 : w > 24 ? 10 : w > 10 ? 5 : w > 5 ? 2 : \
          w > 2 ? 1 : w > 1 ? 0.5 : 0.2
each = step(span * (columns > 1 || stacked ? 1.3 : 0.6))
order(p) = p < baseline ? p : p - 1             # among the others
y(m, p) = m + (order(p) - (others + 1) / 2.) * 0.8 / others
percent(v) = v == 0 ? '0' : sprintf('%+g', v)
goes_on(end, v) = end == 8 ? v < lowest : v > highest       # of a whisker's lower and upper end

plot for [p = 1:policies] p == baseline ? 1 / 0 : NaN with points pointtype mark_of(p) \
         pointsize 1.4 linecolor rgb colour_of(p) title p == baseline ? '' : policy[p]
eval panels
set xrange [lowest - 0.04 * span : highest + 0.04 * span]
set yrange [metrics + 0.6 : 0.4]
unset ytics
set grid noytics xtics
set xtics ('0' 0)
do for [i = int(floor(lowest / each)):int(ceil(highest / each))] {
    if (i != 0 && i * each >= lowest && i * each <= highest) {
        set xtics add (percent(i * each) i * each)
    }
}
set border 1
do for [m = 1:metrics - 1] {
    set arrow 200 + m from graph 0, first m + 0.5 to graph 1, first m + 0.5 nohead \
        linecolor rgb line linewidth 0.7
}
set arrow 300 from first 0, graph 0 to first 0, graph 1 nohead linecolor rgb ink linewidth 1.2
whiskers = seeds > 1
cap = 0.28 / others < 0.1 ? 0.28 / others : 0.1
do for [t = 1:shown] {
    at = point(t)
    panel_column = (t - 1) % abreast
    panel_row = (t - 1) / abreast
    set lmargin at screen across(left + panel_column * wide)
    set rmargin at screen across(left + (panel_column + 1) * wide - 30)
    set tmargin at screen down(top + panel_row * tall)
    set bmargin at screen down(top + panel_row * tall + band)
    set title points > 1 ? point_title[at] : ''
    set xlabel x_title('difference, percent', panel_row) textcolor rgb ink
    do for [m = 1:metrics] {
        unset label 100 + m
        if (panel_column == 0) {
            set label 100 + m metric[m] at graph 0, first m right offset -1, 0 textcolor rgb ink
        }
    }
    plot for [p = 1:policies * whiskers] data using \
             ($1 == at && $2 == p ? $8 : NaN):(y($3, p)):($9 - $8):(0) \
             with vectors nohead linewidth 1.6 linecolor rgb colour_of(p) notitle, \
         for [p = 1:policies * whiskers] for [end = 8:9] data using \
             ($1 == at && $2 == p && column(end) == column(end - 3) ? column(end) : NaN):\
             (y($3, p) - cap):(0):(2 * cap) with vectors nohead linewidth 1.6 \
             linecolor rgb colour_of(p) notitle, \
         for [p = 1:policies * whiskers] for [end = 8:9] data using \
             ($1 == at && $2 == p && goes_on(end, column(end - 3)) ? column(end) : NaN):\
             (y($3, p)):((2 * end - 17) * 0.03 * span):(0) \
             with vectors head filled size screen 0.008, 22 linewidth 1.6 \
             linecolor rgb colour_of(p) notitle, \
         for [p = 1:policies] data using ($1 == at && $2 == p ? $7 : NaN):(y($3, p)) \
             with points pointtype mark_of(p) pointsize 1.2 linewidth 1.6 \
             linecolor rgb colour_of(p) notitle, \
         data using ($1 == at && $4 > highest ? $7 : NaN):(y($3, $2)):\
             (percent(int($4 + 0.5)).tex_sign) \
             with labels right offset -1, 0 font small textcolor rgb ink notitle, \
         data using ($1 == at && $4 < lowest ? $7 : NaN):(y($3, $2)):\
             (percent(int($4 - 0.5)).tex_sign) \
             with labels left offset 1, 0 font small textcolor rgb ink notitle
}
unset multiplot
