# SPDX-License-Identifier: GPL-3.0-or-later
#
# advise.gp - what does a job cost on each GPU, and how soon is it done?  Of a
# service: what do its replicas cost, and how soon is an answer there?

serves = exists('serves') ? serves : 0
heading = serves ? 'Latency and cost by GPU' : 'Time and cost by GPU'
note = (serves ? 'Each point is the fewest replicas that keep the promise' \
               : 'Each point is a number of GPUs with its best layout').\
       '; circles and the black line are '.\
       "the Pareto front, where nothing tried is both faster and cheaper, with the number of "\
       .(serves ? 'replicas' : 'GPUs').' beside them.'
body = 520
load 'style.gp'
set label 2 experiment

point(p) = p <= 8 ? mark[p] : 5 + p             # marks beyond eight are others
plot for [p = 1:policies] NaN with points pointtype point(p) linecolor rgb colour[nth(p)] \
         title policy[p]
eval panels
set lmargin at screen across(100)
set rmargin at screen across(1160)
set tmargin at screen down(top)
set bmargin at screen up(foot + 45)
set autoscale
stats data index 0 using 2:3 nooutput
set logscale xy
set xrange [STATS_min_x / 1.4:STATS_max_x * 1.4]
set yrange [STATS_min_y / 1.6:STATS_max_y * 1.6]
set format x '%.10g'
set format y '%.10g'
set grid xtics ytics linecolor rgb line linewidth 0.7 dashtype 1
eval log_tics('x', STATS_min_x, STATS_max_x)
eval log_tics('y', STATS_min_y, STATS_max_y)
set xlabel (serves ? 'latency, 99th percentile, seconds' : 'time, hours').' (logarithmic)' \
    textcolor rgb ink
set ylabel (serves ? 'cost, USD a day' : 'cost, USD').' (logarithmic)' offset -0.5, 0 \
    textcolor rgb ink
power(n) = abs(log(n) / log(2) - floor(log(n) / log(2) + 0.5)) < 1e-9
# Of neighbours on the front with one number, the first has it: numbers would cover each other.
last = 0
is_new(n) = n == last ? 0 : (last = n, 1)
plot for [p = 1:policies] data index 0 using ($1 == p ? $2 : NaN):3 with points \
         pointtype point(p) pointsize 0.9 linecolor rgb colour[nth(p)] notitle, \
     data index 1 using 2:3 with linespoints pointtype 6 pointsize 1.7 linewidth 1.2 \
         linecolor rgb 'black' notitle, \
     data index 1 using ((serves || power($4)) && is_new($4) ? $2 : NaN):3:(sprintf('%d', $4)) \
         with labels left offset 0.9, 0.5 font ',10' textcolor rgb ink notitle
unset multiplot
