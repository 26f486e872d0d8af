# SPDX-License-Identifier: GPL-3.0-or-later
#
# sweep.gp - how does each policy take to the value that was swept?

body = 760
heading = 'By '.swept_key
note = seeds > 1 ? "Means over the seeds; whiskers: 95% intervals (Student's t)." : ''
load 'style.gp'

# Whiskers apart; over decades, the axis is logarithmic.
aside(p) = (p - (policies + 1) / 2.) * 0.012
at(v, p) = swept_ratio > 0 ? v * swept_ratio ** aside(p) : v + aside(p) * swept_span

array what[4] = ['Cost per job done', 'GPU utilization', 'JCT, mean', \
                 'Wait before the first start, mean']
array unit_of[4] = ['USD per job', 'percent', time_name, time_name]
array factor[4] = [1, 100, 1 / time_unit, 1 / time_unit]

plot for [p = 1:policies] NaN with linespoints pointtype mark[nth(p)] pointsize 1.2 linewidth 1.8 \
         dashtype dash[nth(p)] linecolor rgb colour[nth(p)] title policy[p]
eval panels
set xrange [*:*]
set xlabel swept_key.(swept_unit eq '' ? '' : ' ('.swept_unit.')')
set yrange [0:*]
set offsets graph 0.04, graph 0.04, graph 0.06, 0
set format y '%.10g'
set format x '%g'
if (swept_ratio > 0) set logscale x
do for [m = 1:4] {
    panel_column = (m - 1) % 2
    panel_row = (m - 1) / 2
    set lmargin at screen across(panel_column == 0 ? 95 : 700)
    set rmargin at screen across(panel_column == 0 ? 580 : width - 25)
    set tmargin at screen down(top + panel_row * 400)
    set bmargin at screen down(top + panel_row * 400 + 300)
    set title what[m]
    set ylabel unit_of[m] offset -0.5, 0
    mean = 3 * m - 1
    plot for [p = 1:policies] data index p - 1 using \
             (at($1, p)):(factor[m] * column(mean)):(factor[m] * column(mean + 1)):\
             (factor[m] * column(mean + 2)) \
             with yerrorbars pointtype -1 linewidth 1.4 linecolor rgb colour[nth(p)] notitle, \
         for [p = 1:policies] data index p - 1 using (at($1, p)):(factor[m] * column(mean)) \
             with linespoints pointtype mark[nth(p)] pointsize 1.2 linewidth 1.8 \
             dashtype dash[nth(p)] linecolor rgb colour[nth(p)] notitle
}
unset multiplot
