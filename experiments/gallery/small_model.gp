# SPDX-License-Identifier: GPL-3.0-or-later
#
# small_model.gp - what a million answers cost by the rate of requests, on cores, on
# GPUs and by the rule that changes at 500 a second.  Services have no chart of
# their own: gnuplot -e "folder = 'DIR'" reads DIR/services.csv and draws
# DIR/plots/small_model.png.
set terminal pngcairo noenhanced size 1000,520 font 'DejaVu Sans,12'
set output folder.'/plots/small_model.png'
set datafile separator ' '
set logscale xy
set grid ytics linecolor rgb '#dddddd'
set border 3
set xtics nomirror
set ytics nomirror
set key top right
set xlabel 'requests a second'
set ylabel 'USD for a million answers'
set title 'A small model on cores and on GPUs: small_model, mean over the seeds'
# Points are "services.small.switch.gpu_above=A/s ...arrival.rate=R/s".
of(above) = sprintf("< sed -n 's|^[^=]*gpu_above=%s/s [^=]*=\\([0-9]*\\)/s,|\\1,|p' %s ".\
    "| awk -F, '{ n[$1]++; sum[$1] += $38 } END { for (r in n) print r, sum[r] / n[r] }' ".\
    "| sort -n", above, folder.'/services.csv')
plot of('1000000') with linespoints pointtype 7 linecolor rgb '#0072b2' title 'cores', \
     of('0') with linespoints pointtype 5 linecolor rgb '#e69f00' title 'T4 GPUs', \
     of('500') with linespoints dashtype 2 pointtype 9 linecolor rgb '#009e73' \
         title 'cores up to 500 a second, then GPUs'
