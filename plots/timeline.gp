# SPDX-License-Identifier: GPL-3.0-or-later
#
# timeline.gp - how full is the cluster over time, and does anybody wait?

rows = policies < 16 ? policies : 16
each = rows < 7 ? 125 : 78
asks = rows < 7 ? 130 : 19 * rows
body = rows * each + asks + 80
entries = 3
entry_chars = 23
heading = 'GPUs leased and at work over time'
note = 'One trial: seed '.sprintf('%d', seed).(points > 1 ? ', '.point_title[points / 2 + 1] : '').\
       '. What lies between the two areas is leased but not at work.'.\
       (policies > rows ? sprintf(' The first %d of %d policies.', rows, policies) : '')
load 'style.gp'

plot NaN with boxes linecolor rgb '#A6CEE3' title 'leased', \
     NaN with boxes linecolor rgb '#0072B2' title 'at work', \
     NaN with lines dashtype 2 linewidth 1.2 linecolor rgb ink title 'all GPUs of the cluster'
eval panels
when(s) = (s - zero_s) / time_unit
set xrange [0 : when(end_s)]
set yrange [0 : gpus * 1.12]
set ytics gpus / 2.
set format y '%.10g'
set format x ''
set lmargin at screen across(105)
set rmargin at screen across(width - 80 - 8.6 * policy_chars)
do for [p = 1:rows] {
    set tmargin at screen down(top - 20 + (p - 1) * each)
    set bmargin at screen down(top - 20 + p * each - 18)
    set label 10 policy[p] at graph 1.01, graph 0.5 left textcolor rgb ink
    set ylabel 'GPUs' offset -0.5, 0 textcolor rgb ink
    plot data index p - 1 using (when($1)):3 with fillsteps fillcolor rgb '#A6CEE3' \
             notitle, \
         data index p - 1 using (when($1)):4 with fillsteps fillcolor rgb '#0072B2' \
             notitle, \
         data index p - 1 using (when($1)):2 with lines dashtype 2 linewidth 1.2 \
             linecolor rgb ink notitle
}
unset label 10
set tmargin at screen down(top - 20 + rows * each + 8)
set bmargin at screen up(foot + 55)
set key at graph 1.01, graph 1 left top vertical Left reverse maxrows 16 samplen 2.6
if (paper ne '') { set key maxcols 1 }
set yrange [0 : most_pending > 0 ? most_pending * 1.1 : 1]
set ytics autofreq
set format x '%g'
set xlabel (zero_s > 0 ? 'time since the first job, ' : 'simulated time, ').time_name \
    textcolor rgb ink
set ylabel 'asks waiting' offset -0.5, 0 textcolor rgb ink
plot for [p = 1:rows] data index p - 1 using (when($1)):5 with lines linewidth 1.8 \
         dashtype dash_of(p) linecolor rgb colour_of(p) title policy[p]
unset multiplot
