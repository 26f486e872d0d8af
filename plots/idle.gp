# SPDX-License-Identifier: GPL-3.0-or-later
#
# idle.gp - why are GPUs idle under each policy?

shown = points < most_shown ? points : most_shown
columns = shown < abreast ? shown : abreast
rows = (shown + abreast - 1) / abreast
band = policies < 8 ? 52 * policies : 34 * policies
tall = band + 105                        # with axis, and the next row's title
body = rows * tall - 20
heading = 'Why GPUs are idle'
has(c) = sum [k = 1:words(present)] (int(word(present, k)) == c)
note = 'Share of all GPU time of the cluster, mean over the seeds; what is left to 100 is work.'.\
       (has(1) ? ' Bubble: leased, but waiting for another phase.' : '').\
       (has(2) ? ' Tail: generating, the other responses are done.' : '').\
       (has(3) ? ' Switch: loading, starting, saving.' : '').\
       (has(4) ? ' Gang: free, but all that waits wants more.' : '').\
       (has(5) ? ' Head of line: free and enough for others, but they may not pass the first, '.\
                 'which wants more.' : '').\
       (has(6) ? ' Fragment: free and enough, but it fits on no node or is held back.' : '').\
       (has(7) ? ' Other pools: what waits cannot use them.' : '').\
       (has(9) ? ' Starting: rented, and not yet or no more of use.' : '')
causes = words(present)
entries = causes
entry_chars = 0
do for [k = 1:causes] {
    entry_chars = strlen(cause[k]) > entry_chars ? strlen(cause[k]) : entry_chars
}
load 'style.gp'

array tint[10] = ['#E69F00', '#56B4E9', '#CC79A7', '#D55E00', '#7F7F7F', '#F0E442', \
                 '#009E73', '#000000', '#0072B2', '#DDDDDD']
array fill[10] = [3, 5, 1, 4, 2, 3, 3, 4, 6, 3]
if (paper ne '') { fill[6] = 7 }         # as pale as the last one in grey print
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
             with labels boxed textcolor rgb 'black' notitle
}
unset multiplot
