# SPDX-License-Identifier: GPL-3.0-or-later
#
# advise.gp - what does a job cost on each GPU, and how soon is it done?

heading = 'Time and cost by GPU'
note = 'Each point is a number of GPUs with its best layout, beside it for powers of four. '.\
       "The black line is the\nPareto front: nothing tried is both faster and cheaper."
body = 520
load 'style.gp'

plot for [p = 1:policies] NaN with linespoints pointtype mark[nth(p)] dashtype dash[nth(p)] \
         linecolor rgb colour[nth(p)] title policy[p]
eval panels
set lmargin at screen across(100)
set rmargin at screen across(1160)
set tmargin at screen down(top)
set bmargin at screen up(foot + 45)
set autoscale
set logscale xy
set format x '%.10g'
set format y '%.10g'
set xlabel 'hours' textcolor rgb ink
set ylabel 'USD' offset -0.5, 0 textcolor rgb ink
set offsets graph 0.03, graph 0.05, graph 0.06, graph 0.04
four(n) = n == 1 || n == 4 || n == 16 || n == 64 || n == 256 || n == 1024
plot for [p = 1:policies] data using ($1 == p ? $2 : NaN):3 with points \
         pointtype mark[nth(p)] pointsize 0.9 linecolor rgb colour[nth(p)] notitle, \
     data using ($5 == 1 ? $2 : NaN):3 with lines linewidth 1.6 linecolor rgb 'black' notitle, \
     data using ($5 == 1 ? $2 : NaN):3 with points pointtype 6 pointsize 1.7 \
         linecolor rgb 'black' notitle, \
     data using (four($4) ? $2 : NaN):3:(sprintf('%d', $4)) with labels offset 0, 0.8 \
         font ',9' textcolor rgb pale notitle
unset multiplot
