# SPDX-License-Identifier: GPL-3.0-or-later
#
# idle.gp - why are GPUs idle under each policy?

shown = points < 12 ? points : 12
columns = shown < 3 ? shown : 3
rows = (shown + 2) / 3
band = policies < 8 ? 52 * policies : 400
tall = band + 95                        # with axis, and the next row's title
body = rows * tall - 20
entries = 9
entry_chars = 19
heading = 'Why GPUs are idle'
note = 'Share of all GPU time of the cluster, mean over the seeds; what is left to 100 is work. '.\
       'Bubble: leased, but waiting for another phase.'."\n".\
       'Tail: the other responses are done. Gang: free, but all that waits wants more. '.\
       'Fragment: free and enough, but it does not fit or is held back.'.\
       (shown < points ? sprintf(' The first %d points.', shown) : '')
load 'style.gp'

array cause[9] = ['bubble', 'tail', 'switch', 'gang', 'fragment', \
                 'other pools', 'failures', 'starting', 'nothing waits']
array tint[9] = ['#E69F00', '#56B4E9', '#CC79A7', '#D55E00', '#F0E442', \
                '#009E73', '#000000', '#0072B2', '#DDDDDD']
array fill[9] = [3, 5, 1, 4, 3, 3, 4, 3, 3]
left = 40 + 9.5 * policy_chars
wide = (width - left - 30.) / columns
before(c) = c == 1 ? 0 : sum [k = 3:c + 1] column(k)

plot for [c = 1:9] NaN with boxes fillstyle pattern fill[c] linecolor rgb tint[c] title cause[c]
eval panels
set xrange [0:100]
set yrange [policies + 0.6:0.4]
set xtics 20
set grid noytics xtics
unset ytics
do for [t = 1:shown] {
    panel_column = (t - 1) % 3
    panel_row = (t - 1) / 3
    set lmargin at screen across(left + panel_column * wide)
    set rmargin at screen across(left + (panel_column + 1) * wide - 36)
    set tmargin at screen down(top + panel_row * tall)
    set bmargin at screen down(top + panel_row * tall + band)
    set title points > 1 ? point_name[t] : ''
    set xlabel 'percent of GPU time' offset 0, 0.3
    do for [p = 1:policies] {
        unset label 100 + p
        if (panel_column == 0) {
            set label 100 + p policy[p] at graph 0, first p right offset -1, 0 textcolor rgb ink
        }
    }
    plot for [c = 1:9] data using \
             ($1 == t ? 50 : NaN):2:(100 * before(c)):(100 * (before(c) + column(c + 2))):\
             ($2 - 0.36):($2 + 0.36) \
             with boxxyerror fillstyle pattern fill[c] border rgb 'white' \
             linecolor rgb tint[c] notitle, \
         for [c = 1:(policies * points > 1 ? 9 : 0)] data using \
             ($1 == t && column(c + 2) >= 0.04 * columns ? \
             100 * (before(c) + column(c + 2) / 2) : NaN):2:\
             (sprintf('%.0f', 100 * column(c + 2))) \
             with labels textcolor rgb c == 7 || c == 8 ? 'white' : 'black' notitle
}
unset multiplot
