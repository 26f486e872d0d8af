# SPDX-License-Identifier: GPL-3.0-or-later
#
# utilization.gp - where does GPU time go under each policy?

columns = points < 3 ? points : 3
rows = (points + 2) / 3
band = 52 * policies + 60
height = 245 + rows * (band > 420 ? 420 : band)
heading = 'Where GPU time goes'
note = 'Share of all GPU time of the cluster, mean over the seeds. '.\
       'Tail: generating, the other responses are done. Switch: loading, starting, saving.'."\n".\
       'Bubble: leased, but waiting for another phase. '.\
       'Diamond: what GPUs really do (gpu_utilization)'.\
       (seeds > 1 ? ', with its 95% interval.' : '.')
load 'style.gp'

array cause[6] = ['busy', 'tail', 'switch', 'bubble', 'idle, asks wait', 'idle, nothing waits']
array tint[6] = ['#0072B2', '#56B4E9', '#CC79A7', '#E69F00', '#D55E00', '#DDDDDD']
array fill[6] = [3, 5, 1, 3, 4, 3]
chars = 0
do for [p = 1:policies] { chars = strlen(policy[p]) > chars ? strlen(policy[p]) : chars }
left = 40 + 9.5 * chars
wide = (width - left - 30.) / columns
tall = (height - 235.) / rows
before(c) = c == 1 ? 0 : sum [k = 3:c + 1] column(k)

plot for [c = 1:6] NaN with boxes fillstyle pattern fill[c] linecolor rgb tint[c] title cause[c]
eval panels
set xrange [0:100]
set yrange [policies + 0.6:0.4]
set xtics 20
set grid noytics xtics
unset ytics
do for [t = 1:points] {
    panel_column = (t - 1) % 3
    panel_row = (t - 1) / 3
    set lmargin at screen across(left + panel_column * wide)
    set rmargin at screen across(left + (panel_column + 1) * wide - 26)
    set tmargin at screen down(165 + panel_row * tall)
    set bmargin at screen down(165 + (panel_row + 1) * tall - 65)
    set title points > 1 ? point_name[t] : ''
    set xlabel 'percent of GPU time' offset 0, 0.3
    do for [p = 1:policies] {
        unset label 100 + p
        if (panel_column == 0) {
            set label 100 + p policy[p] at graph 0, first p right offset -1, 0 textcolor rgb ink
        }
    }
    plot for [c = 1:6] data using \
             ($1 == t ? 50 : NaN):2:(100 * before(c)):(100 * (before(c) + column(c + 2))):\
             ($2 - 0.36):($2 + 0.36) \
             with boxxyerror fillstyle pattern fill[c] border rgb 'white' \
             linecolor rgb tint[c] notitle, \
         for [c = 1:6] data using \
             ($1 == t && column(c + 2) >= 0.04 * columns ? \
             100 * (before(c) + column(c + 2) / 2) : NaN):2:\
             (sprintf('%.0f', 100 * column(c + 2))) \
             with labels textcolor rgb c == 1 || c == 5 ? 'white' : 'black' notitle, \
         data using ($1 == t ? 100 * $9 : NaN):($2 + 0.36):(100 * $10):(100 * $11) \
             with xerrorbars pointtype 13 pointsize 1.3 linewidth 1.6 linecolor rgb 'black' notitle
}
unset multiplot
