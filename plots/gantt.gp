# SPDX-License-Identifier: GPL-3.0-or-later
#
# gantt.gp - what does every GPU do, for a while, under two policies?

band = rows * (rows < 24 ? 20 : rows < 72 ? 9.5 : 6)
band = band < 260 ? 260 : band
body = band + 70
entries = kinds + 1
entry_chars = 29
heading = 'What every GPU does'
note = 'One row per GPU, one trial: seed '.sprintf('%d', seed).\
       (points > 1 ? ', '.point_name[points / 2 + 1] : '').\
       '. The '.sprintf('%.3g ', (end_s - start_s) / time_unit).time_name.\
       ' in which both have the most to do.'."\n".\
       'White: no phase of any job.'.\
       (rows_left_out ? sprintf(' %d more GPUs not shown.', rows_left_out) : '')
load 'style.gp'

known = 'rollout train reference sync reward checkpoint load infer serve preprocess validate'
array tint[11] = ['#56B4E9', '#0072B2', '#000000', '#D55E00', '#009E73', '#F0E442', \
                  '#CC79A7', '#E69F00', '#E69F00', '#009E73', '#CC79A7']
which(name) = sum [k = 1:11] (word(known, k) eq name ? k : 0)
shade(k) = which(kind[k]) ? tint[which(kind[k])] : colour[nth(k)]
sides = right ? 2 : 1

plot for [k = 1:kinds] NaN with boxes fillstyle solid noborder linecolor rgb shade(k) \
         title kind[k], \
     NaN with boxes fillstyle solid noborder linecolor rgb '#D4D4D4' \
         title 'between two phases of one job'
eval panels
set xrange [start_s / time_unit : end_s / time_unit]
set yrange [rows : 0]
set border 15
unset ytics
unset grid
set xlabel 'simulated time, '.time_name
set style fill solid 1.0 noborder
do for [n = 1:nodes] {
    set label 100 + n node[n] at graph 0, first (node_row[n] + node_row[n + 1]) / 2. right \
        offset -0.7, 0 textcolor rgb ink
    if (n > 1) {
        set arrow 100 + n from graph 0, first node_row[n] to graph 1, first node_row[n] \
            nohead front linewidth 0.9 linecolor rgb '#444444'
    }
}
do for [panel = 1:sides] {
    set lmargin at screen across(panel == 1 ? 95 : 655)
    set rmargin at screen across(panel == sides ? width - 25 : 630)
    set tmargin at screen down(top)
    set bmargin at screen down(top + band)
    set title policy[panel == 1 ? left : right]
    if (panel == 2) { unset label }
    plot data index 2 * panel - 2 using ($3 / time_unit):1:($3 / time_unit):($4 / time_unit):1:2 \
             with boxxyerror fillstyle solid noborder linecolor rgb '#D4D4D4' \
             notitle, \
         for [k = 1:kinds] data index 2 * panel - 1 using \
             ($5 == k ? $3 / time_unit : NaN):1:($3 / time_unit):($4 / time_unit):1:2 \
             with boxxyerror fillstyle solid noborder linecolor rgb shade(k) \
             notitle
}
unset multiplot
