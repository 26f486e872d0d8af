# SPDX-License-Identifier: GPL-3.0-or-later
#
# cost.gp - what does each policy cost: per job done, and in total?  Services
# alone do no jobs: then in total only.

heading = 'Cost by policy'
note = 'The whole cluster is paid for as long as it runs, idle hardware included. '.\
       (seeds > 1 ? "Whiskers: 95% intervals\nof the mean over the seeds (Student's t)." : '')
below = policies * points > 30          # one panel below the other
chars = 0
do for [t = 1:points] { chars = strlen(point_name[t]) > chars ? strlen(point_name[t]) : chars }
slanted = points * chars > (below ? 110 : 50)
axis = slanted ? 35 + 3.5 * chars : 35
body = below ? 2 * (300 + axis) + 35 : 480 + axis
load 'style.gp'

room = 0.84                                     # of the space of a point
slot = room / policies
place(t, p) = t - room / 2 + (p - 0.5) * slot
few = policies * points <= 15
labels = policies * points > 1          # gnuplot 5.4 falls over a single label

plot for [p = 1:policies] NaN with boxes fillstyle pattern hatch[nth(p)] \
         linecolor rgb colour[nth(p)] title policy[p]
eval panels
set xrange [0.5:points + 0.5]
set yrange [0:*]
set format y '%.10g'
unset xtics
set offsets 0, 0, graph 0.08, 0
do for [t = 1:points] {
    if (slanted) {
        set label 100 + t point_name[t] at first t, graph -0.03 right rotate by 20 textcolor rgb ink
    } else {
        set label 100 + t point_name[t] at first t, graph -0.05 center textcolor rgb ink
    }
}
do for [panel = (per_job ? 1 : 2):2] {
    mean = panel == 1 ? 3 : 6
    set lmargin at screen across(panel == 1 || below || !per_job ? 100 : 700)
    set rmargin at screen across(panel == 1 && !below ? 580 : 1180)
    set tmargin at screen down(panel == 1 || !below ? top : top + 335 + axis)
    set bmargin at screen panel == 1 && below ? down(top + 300) : up(foot + axis)
    set title panel == 1 ? 'Cost per job done' : 'Total cost'
    set ylabel panel == 1 ? 'USD per job' : 'USD' offset -0.5, 0
    plot for [p = 1:policies] data \
             using (place($1, p)):($2 == p ? column(mean) : NaN):(slot * 0.86) \
             with boxes fillstyle pattern hatch[nth(p)] linecolor rgb colour[nth(p)] \
             notitle, \
         for [k = 1:labels] data \
             using (few ? place($1, $2) : NaN):(column(mean + 2) > 0 ? column(mean + 2) \
             : column(mean)):(sprintf(column(mean) < 100 ? '%.3g' : '%.0f', column(mean))) \
             with labels offset 0, 0.7 font small textcolor rgb ink notitle, \
         data using (place($1, $2)):(column(mean + 1)):(0):(column(mean + 2) - column(mean + 1)) \
             with vectors heads size graph 0.008, 90 linewidth 1.6 linecolor rgb 'black' notitle
}
unset multiplot
