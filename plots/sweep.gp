# SPDX-License-Identifier: GPL-3.0-or-later
#
# sweep.gp - how does each policy take to the value that was swept?

panels_shown = paper ne '' && !stacked && words(present) > 2 ? 2 : words(present)
sweep_columns = stacked ? 1 : 2
sweep_rows = (panels_shown + sweep_columns - 1) / sweep_columns
body = sweep_rows * 400 - 40
heading = 'Results by '.swept_key
note = (panels_shown < words(present) ? sprintf('The first %d of %d metrics. ', panels_shown, \
        words(present)) : '').'JCT: job completion time.'.\
       (seeds > 1 ? ' Means over the seeds; whiskers: 95% intervals (Student’s and Hall’s).' : '').\
       ' Policies stand a little aside of each other.'.\
       (lost ? ' Some jobs were not done: cost per job, JCT and wait are of the others, and do '.\
        'not compare where policies left other jobs.' : '')
load 'style.gp'

# Whiskers apart, but nearer than the next value; over decades, the axis is
# logarithmic.
apart = 0.012 * swept_span < 0.5 * swept_gap / policies ? 0.012 * swept_span \
                                                        : 0.5 * swept_gap / policies
aside(p) = p - (policies + 1) / 2.
at(v, p) = swept_ratio > 0 ? v * swept_ratio ** (0.012 * aside(p)) : v + aside(p) * apart
size = points > 20 ? 0.8 : 1.2
# On an axis that begins at 0 a whisker does, too; gnuplot would leave its upper end out.
low_end(m, v) = v < 0 && !below[m] ? 0 : v

plot for [p = 1:policies] NaN with linespoints pointtype mark_of(p) pointsize 1.2 linewidth 1.8 \
         dashtype dash_of(p) linecolor rgb colour_of(p) title policy[p]
eval panels
set xrange [*:*]; set autoscale xfix     # no empty step at either end
rows = sweep_rows
set offsets graph 0.04, graph 0.04, graph 0.06, 0
set format y '%.10g'
set format x '%g'
if (swept_ratio > 0) set logscale x
if (paper ne '' && swept_ratio <= 0 && swept_span > 0) { set xtics tick_step(1.25 * swept_span) }
do for [k = 1:panels_shown] {
    m = int(word(present, k))
    panel_column = (k - 1) % sweep_columns
    panel_row = (k - 1) / sweep_columns
    set xlabel x_title(swept_key.(swept_unit eq '' ? '' : ', '.swept_unit), panel_row) \
        textcolor rgb ink
    set lmargin at screen across(panel_column == 0 ? 95 : width / 2 + 100)
    set rmargin at screen across(panel_column < sweep_columns - 1 ? width / 2 - 20 : width - 25)
    set tmargin at screen down(top - 20 + panel_row * 400)
    set bmargin at screen down(top - 20 + panel_row * 400 + 310)
    set ylabel what[m].', '.unit_of[m] offset -1, 0 textcolor rgb ink
    if (below[m]) { set yrange [*:*] } else { set yrange [0:*] }
    mean = 3 * m - 1
    plot for [p = 1:policies] data index p - 1 using \
             (at($1, p)):(factor[m] * column(mean)):(low_end(m, factor[m] * column(mean + 1))):\
             (factor[m] * column(mean + 2)) \
             with yerrorbars pointtype -1 linewidth 1.4 linecolor rgb colour_of(p) notitle, \
         for [p = 1:policies] data index p - 1 using (at($1, p)):(factor[m] * column(mean)) \
             with linespoints pointtype mark_of(p) pointsize size linewidth 1.8 \
             dashtype dash_of(p) linecolor rgb colour_of(p) notitle
}
unset multiplot
