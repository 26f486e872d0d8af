# SPDX-License-Identifier: GPL-3.0-or-later
#
# scale.gp - what a job costs (two events or more), and what memory a run
# takes, by jobs, GPUs, and jobs that wait; and what a job costs under policies
# whose queue is not one of arrival.
#
# Before it stand blocks $POLICY_CURVE: a size, microseconds per job, and the
# peak of memory in MB.  A curve that was not measured is empty; the lines that
# are not drawn keep a panel of such curves from being an error.

if (!exists('format')) format = 'png'
if (!exists('file')) file = 'scale.'.format
set encoding utf8
set terminal pngcairo enhanced size 1560,860 font 'DejaVu Sans,11' linewidth 1.3
set output file
array name[4] = ['fifo', 'easy', 'srtf', 'phases']
array said[4] = ['FIFO, best fit', 'EASY, best fit', 'SRTF, count', 'FIFO, jobs of five phases']
array colour[4] = ['#0072B2', '#D55E00', '#009E73', '#CC79A7']
array sign[4] = [7, 5, 9, 13]
array heading[3] = ['Jobs of a run (10,000 GPUs)', 'GPUs (100,000 jobs)', \
                    'Jobs that come at once, and wait (104 GPUs)']
set multiplot layout 2,4 \
    title 'Processor time per job and peak of memory, from trace to metrics' font ',14'
set logscale x
set border 3 linecolor rgb '#888888'
set tics nomirror
set grid linecolor rgb '#D0D0D0' linewidth 0.7 dashtype 1
set yrange [0:*]
set format x '10^{%L}'
set bmargin 4
unset key
array least[3] = [700, 70, 7]
array most[3] = [1.4e6, 1.4e5, 1.4e5]
set ylabel 'microseconds'
do for [c = 1:3] {
    set xlabel heading[c]
    set xrange [least[c]:most[c]]
    plot 0 linetype nodraw notitle, \
         for [p = 1:(c == 1 ? 4 : 3)] '$'.name[p].'_'.c using 1:2 with linespoints \
         pointtype sign[p] linecolor rgb colour[p] title said[p]
    unset ylabel
}
array queue[8] = ['hrrn', 'drf', 'srsf', 'dlas', 'las', 'gittins', \
                  'conservative', 'conservative_late']
array queue_said[8] = ['HRRN', 'DRF', 'SRSF', 'DLAS', 'LAS', 'Gittins', \
                       'conservative, exact', 'conservative, too long']
set logscale y
set yrange [1:100000]
set format y '10^{%L}'
set xlabel 'Likewise, other queues'
set key at graph 0.02,0.99 left top Left reverse samplen 2 spacing 0.9
plot 1 linetype nodraw notitle, for [p = 1:8] '$'.queue[p].'_4' using 1:2 with linespoints \
     pointtype 3 + p linecolor p title queue_said[p]
unset logscale y
set yrange [0:*]
set format y '%g'
unset key
set ylabel 'MB at the peak'
do for [c = 1:3] {
    set xlabel heading[c]
    set xrange [least[c]:most[c]]
    plot 0 linetype nodraw notitle, \
         for [p = 1:(c == 1 ? 4 : 3)] '$'.name[p].'_'.c using 1:3 with linespoints \
         pointtype sign[p] linecolor rgb colour[p]
    unset ylabel
}
# What the lines of the other panels are.
unset border
unset tics
unset xlabel
unset logscale
set xrange [0:1]
set yrange [0:1]
set key at graph 0.1,0.8 left top Left reverse spacing 1.3
plot for [p = 1:4] 2 with linespoints pointtype sign[p] linecolor rgb colour[p] title said[p]
unset multiplot
