# SPDX-License-Identifier: GPL-3.0-or-later
#
# jct_cdf.gp - how long do jobs take under each policy, the slow ones too?

shown = points < most_shown ? points : most_shown
columns = shown < abreast ? shown : abreast
rows = (shown + abreast - 1) / abreast
band = shown == 1 ? 440 : 340
tall = band + 100                       # with axis, and the next row's title
body = rows * tall - 20
heading = 'Job completion time (submission to end)'
note = (seeds > 1 ? 'All seeds together. ' : '').'A curve further left is better.'.\
       (lost ? ' Some jobs were not done: they count as submitted, and hold a curve '.\
        'below 100%.' : '')
load 'style.gp'

wide = (width - 90.) / columns

plot for [p = 1:policies] NaN with lines linewidth 2.2 dashtype dash_of(p) \
         linecolor rgb colour_of(p) title policy[p]
eval panels
set logscale x
if (jct_high <= jct_low) { jct_low = jct_low / 2; jct_high = jct_high * 2 }
set xrange [jct_low / time_unit : jct_high / time_unit]
set yrange [0:100]
set grid xtics ytics
set format x '%g'
ratio = jct_high / jct_low
if (ratio < 200) { set xtics add (0.2, 0.5, 2, 5, 20, 50) }
do for [t = 1:shown] {
    at = point(t)
    panel_column = (t - 1) % abreast
    panel_row = (t - 1) / abreast
    set lmargin at screen across(80 + panel_column * wide)
    set rmargin at screen across(80 + (panel_column + 1) * wide - 40)
    set tmargin at screen down(top + panel_row * tall)
    set bmargin at screen down(top + panel_row * tall + band)
    set title points > 1 ? point_title[at] : ''
    set xlabel x_title('job completion time, '.time_name.\
        (paper eq '' ? ' (logarithmic)' : ', log'), panel_row) textcolor rgb ink
    set ylabel panel_column == 0 ? 'submitted jobs done, percent' : '' offset 1, 0 textcolor rgb ink
    plot for [p = 1:policies] data index (at - 1) * policies + p - 1 \
             using ($1 / time_unit):(100 * $2) with lines linewidth 2.2 \
             dashtype dash_of(p) linecolor rgb colour_of(p) notitle, \
         50 with lines linewidth 0.8 linecolor rgb pale notitle
}
unset multiplot
