# SPDX-License-Identifier: GPL-3.0-or-later
#
# calibrate.gp - one suite of measurements: what a law predicts of each row.
#
# Before it stand `suite` and the block $rows: measured, predicted, and
# whether the row helped to choose constants.  The band is 15% either way.

if (!exists('format')) format = 'png'
set encoding utf8
set terminal pngcairo noenhanced size 800,800 font 'DejaVu Sans,12' linewidth 1.3
set output file
set title suite.': predicted against measured' font ',14'
stats $rows using 1 nooutput name 'm'
stats $rows using 2 nooutput name 'p'
stats $rows using 3 nooutput name 'c'   # legends name rows that there are
chosen = c_max > 0
held = c_min < 1
low = (m_min < p_min ? m_min : p_min) / 1.3
high = (m_max > p_max ? m_max : p_max) * 1.3
set logscale xy
set xrange [low:high]
set yrange [low:high]
if (high / low < 200) {                 # numbers between few decades
    do for [k = int(floor(log10(low))):int(floor(log10(high)))] {
        set xtics add (2 * 10. ** k, 5 * 10. ** k)
        set ytics add (2 * 10. ** k, 5 * 10. ** k)
    }
}
set size square
set border 3 linecolor rgb '#888888'
set tics nomirror
set grid linecolor rgb '#D0D0D0' linewidth 0.7 dashtype 1
set key left top Left reverse
set xlabel 'measured, in the unit of each row'
set ylabel 'predicted'
plot x with lines linecolor rgb '#222222' linewidth 1 title 'equal', \
     1.15 * x with lines linecolor rgb '#7F7F7F' dashtype 2 title 'within 15%', \
     x / 1.15 with lines linecolor rgb '#7F7F7F' dashtype 2 notitle, \
     $rows using 1:($3 == 1 ? $2 : NaN) with points pointtype 4 linecolor rgb '#E69F00' \
         title chosen ? 'constants were chosen on' : '', \
     $rows using 1:($3 == 0 ? $2 : NaN) with points \
         pointtype 7 pointsize 0.8 linecolor rgb '#0072B2' \
         title held ? 'held out' : ''
