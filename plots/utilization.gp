# SPDX-License-Identifier: GPL-3.0-or-later
#
# utilization.gp - where does GPU time go under each policy?

shown = points < most_shown ? points : most_shown
columns = shown < abreast ? shown : abreast
rows = (shown + abreast - 1) / abreast
band = policies < 8 ? 52 * policies : 34 * policies
tall = band + 105                        # with axis, and the next row's title
body = rows * tall - 20
heading = 'Where GPU time goes'
has(c) = sum [k = 1:words(present)] (int(word(present, k)) == c)
note = 'Share of all GPU time of the cluster, mean over the seeds.'.\
       (has(2) ? ' Tail: generating, the other responses are done.' : '').\
       (has(3) ? ' Switch: loading, starting, saving.' : '').\
       (has(4) ? ' Bubble: leased, but waiting for another phase.' : '').\
       (has(5) ? ' Asks wait: the chart of idle GPUs says why.' : '').\
       ' Diamond: GPU utilization, what GPUs really do'.\
       (seeds > 1 ? ', with its 95% interval.' : '.')
causes = words(present)
entries = causes
entry_chars = 0
do for [k = 1:causes] {
    entry_chars = strlen(cause[k]) > entry_chars ? strlen(cause[k]) : entry_chars
}
load 'style.gp'

array tint[8] = ['#0072B2', '#56B4E9', '#CC79A7', '#E69F00', '#D55E00', '#DDDDDD', \
                '#000000', '#009E73']
array fill[8] = [3, 5, 1, 3, 4, 3, 4, 5]
nr(k) = int(word(present, k))           # in the stack, of the k-th that occurs
left = 40 + (paper eq '' ? 9.5 : 8) * policy_chars
wide = (width - left - 30.) / columns
before(c) = c == 1 ? 0 : sum [i = 3:c + 1] column(i)

plot for [k = 1:causes] NaN with boxes fillstyle pattern fill[nr(k)] \
         linecolor rgb tint[nr(k)] title cause[k]
eval panels
set xrange [0:100]
set yrange [policies + 0.6:0.4]
set xtics 20
set grid noytics xtics
unset ytics
do for [t = 1:shown] {
    at = point(t)
    panel_column = (t - 1) % abreast
    panel_row = (t - 1) / abreast
    set lmargin at screen across(left + panel_column * wide)
    set rmargin at screen across(left + (panel_column + 1) * wide - 36)
    set tmargin at screen down(top + panel_row * tall)
    set bmargin at screen down(top + panel_row * tall + band)
    set title points > 1 ? point_title[at] : ''
    set xlabel x_title('share of GPU time, percent', panel_row) offset 0, 0.3 textcolor rgb ink
    do for [p = 1:policies] {
        unset label 100 + p
        if (panel_column == 0) {
            set label 100 + p policy[p] at graph 0, first p right offset -1, 0 textcolor rgb ink
        }
    }
    plot for [k = 1:(paper eq '' ? 0 : causes)] data using \
             ($1 == at && fill[nr(k)] == 3 ? 50 : NaN):2:(100 * before(nr(k))):\
             (100 * (before(nr(k)) + column(nr(k) + 2))):($2 - 0.36):($2 + 0.36) \
             with boxxyerror fillstyle solid noborder linecolor rgb tint[nr(k)] notitle, \
         for [k = 1:causes] data using \
             ($1 == at ? 50 : NaN):2:(100 * before(nr(k))):\
             (100 * (before(nr(k)) + column(nr(k) + 2))):($2 - 0.36):($2 + 0.36) \
             with boxxyerror fillstyle pattern fill[nr(k)] border rgb 'white' \
             linecolor rgb tint[nr(k)] notitle, \
         for [k = 1:(policies * points > 1 ? causes : 0)] data using \
             ($1 == at && column(nr(k) + 2) >= 0.035 * columns ? \
             100 * (before(nr(k)) + column(nr(k) + 2) / 2) : NaN):2:\
             (sprintf('%.0f', 100 * column(nr(k) + 2))) \
             with labels boxed textcolor rgb 'black' notitle, \
         data using ($1 == at ? 100 * $11 : NaN):($2 + 0.36):(100 * $12):(100 * $13) \
             with xerrorbars pointtype 13 pointsize 1.3 linewidth 1.6 linecolor rgb 'black' notitle
}
unset multiplot
