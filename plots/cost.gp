# SPDX-License-Identifier: GPL-3.0-or-later
#
# cost.gp - what does each policy cost: per job done, and in total?  Services
# alone do no jobs: then in total only.

heading = 'Cost by policy'
note = 'The whole cluster is paid for as long as it runs, idle hardware included.'.\
       (seeds > 1 ? " Whiskers: 95% intervals of the mean (Student’s and Hall’s)." : '').\
       (lost ? ' Some jobs were not done: the cost per job is that of the whole run over those '.\
        'that were, and does not compare where policies left other jobs.' : '')
below = policies * points > 15 || stacked   # one panel below the other
across_px = below ? width - 120 : width / 2 - 120
chars = 0
do for [t = 1:points] { chars = strlen(point_value[t]) > chars ? strlen(point_value[t]) : chars }
each = across_px / (points * 1.)                # pixels of a point
slanted = each < 8.4 * chars && chars > 8
nth_label = slanted ? int(50 / each) + 1 : int(8.4 * (chars + 1) / each) + 1
axis = slanted ? 35 + 3.2 * chars : 35
axis = axis + (point_key eq '' ? 0 : 24)
body = below && per_job ? 2 * (300 + axis) + 35 : 400 + axis
load 'style.gp'

left_px = slanted ? most(100, 7.6 * chars + 10 - each / 2) : 100
room = 0.84                                     # of the space of a point
slot = room / policies
place(t, p) = t - room / 2 + (p - 0.5) * slot
# Values stand at the bars where there is room: upright where bars are narrow.
number(v) = v < 100 ? sprintf('%.3g', v) : sprintf('%.0f', v)
slot_px = each * slot
turned = slot_px < 7.2 * value_chars + 7
labels = slot_px < 13 || policies * points == 1 ? 0 : 1   # gnuplot 5.4 falls over a single one

plot for [p = 1:policies] NaN with boxes fillstyle pattern hatch_of(p) \
         linecolor rgb colour_of(p) title policy[p]
eval panels
set xrange [0.5:points + 0.5]
set yrange [0:*]
set format y '%.10g'
unset xtics
set offsets 0, 0, graph (labels && turned ? 0.2 : 0.08), 0
if (points > 1) {
    do for [t = 1:points:nth_label] {
        if (slanted) {
            set label 100 + t point_value[t] at first t, graph -0.03 right rotate by 20 \
                textcolor rgb ink
        } else {
            set label 100 + t point_value[t] at first t, graph -0.05 center textcolor rgb ink
        }
    }
}
do for [panel = (per_job ? 1 : 2):2] {
    mean = panel == 1 ? 3 : 6
    second = panel == 2 && per_job
    set lmargin at screen across(!second || below ? left_px : width / 2 + left_px)
    set rmargin at screen across(!below && per_job && panel == 1 ? width / 2 - 20 : width - 20)
    set tmargin at screen down(second && below ? top + 335 + axis : top)
    set bmargin at screen panel == 1 && below ? down(top + 300) : up(foot + axis)
    set ylabel (panel == 1 ? 'cost per job done, USD' : 'total cost, USD') offset -1, 0 \
        textcolor rgb ink
    set label 99 point_key at graph 0.5, graph -0.03 center textcolor rgb ink \
        offset 0, character (slanted ? -3 - 0.19 * chars : -1.4)
    plot for [p = 1:policies] data \
             using (place($1, p)):($2 == p ? column(mean) : NaN):(slot * 0.86) \
             with boxes fillstyle pattern hatch_of(p) linecolor rgb colour_of(p) \
             notitle, \
         for [k = 1:labels * (1 - turned)] data \
             using (place($1, $2)):(column(panel + 8)):(number(column(mean))) \
             with labels offset 0, 0.7 font small textcolor rgb ink notitle, \
         for [k = 1:labels * turned] data \
             using (place($1, $2)):(column(panel + 8)):(number(column(mean))) \
             with labels left rotate by 90 offset 0, 0.5 font small textcolor rgb ink notitle, \
         data using (place($1, $2)):(column(mean + 1)):(0):(column(mean + 2) - column(mean + 1)) \
             with vectors heads size graph 0.008, 90 linewidth 1.6 linecolor rgb 'black' notitle
}
unset multiplot
