# SPDX-License-Identifier: GPL-3.0-or-later
#
# gantt.gp - what does every GPU do, for a while, under two policies?

if (paper ne '') { labels = 0 }            # no room for names of jobs
band = rows * row_px
band = band < 260 ? 260 : band
body = band + 70
shown_kinds = words(present)
entries = shown_kinds + gaps
gap_title = paper ne '' ? 'between phases' : 'between two phases of one job'
entry_chars = gaps ? strlen(gap_title) : 0
do for [k = 1:kinds] { entry_chars = strlen(kind[k]) > entry_chars ? strlen(kind[k]) : entry_chars }
heading = 'What every GPU does'
all_rows = rows + rows_left_out
note = 'One row per GPU, one trial: seed '.sprintf('%d', seed).\
       (points > 1 ? ', '.point_title[points / 2 + 1] : '').\
       '. Shown are the '.sprintf('%.3g ', (end_s - start_s) / time_unit).time_name.\
       (right ? ' in which both have' : ' in which it has').' the most to do, of '.\
       (rows_left_out ? sprintf('%d of %d GPUs', rows, all_rows) : 'all GPUs').\
       (rows_left_out ? ': of each pool its share, nodes evenly apart among those that '.\
                        'ran something'.(chosen eq '' ? '' : ' ('.chosen.')') : '').\
       '. '.(labels ? 'Numbers and names are those of jobs; tones' : 'Tones').\
       ' tell jobs that follow each other apart. White: no phase of any job.'.\
       (cut ? ' Jobs on more nodes than phases.csv lists are drawn in part.' : '')
load 'style.gp'

# A kind of job has a hue, a phase its lightness, and jobs that follow each
# other differ in tone.
array hues[8] = [0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0xD55E00, 0x56B4E9, 0x999999, 0xF0E442]
array lightness[4] = [0.55, 0, -0.45, -0.8]
mix(c, to, part) = int(c + (to - c) * part + 0.5)
channel(h, i) = (h / (i == 1 ? 65536 : i == 2 ? 256 : 1)) % 256
lit(c, l) = l > 0 ? mix(c, 255, l) : mix(c, 0, -l)
toned(h, l, t) = sprintf('#%02X%02X%02X', mix(lit(channel(h, 1), l), 255, 0.15 * t), \
                         mix(lit(channel(h, 2), l), 255, 0.15 * t), \
                         mix(lit(channel(h, 3), l), 255, 0.15 * t))
tint(k, t) = toned(hues[nth(hue[k])], lightness[shade[k] + 1], t)
sides = right ? 2 : 1
node_chars = 0
do for [n = 1:nodes] { node_chars = most(node_chars, strlen(node[n])) }
# Names of nodes stand where there is room for a line.
nth_node = int(15. / (band / nodes)) + 1
left_px = 40 + 8.1 * node_chars + (pools ? 22 : 0)
panel_px = (width - 25. - left_px - (sides - 1) * 25) / sides

nr(i) = int(word(present, i))           # of the i-th colour that is drawn
plot for [i = 1:shown_kinds] NaN with boxes fillstyle solid noborder \
         linecolor rgb tint(nr(i), 0) title kind[nr(i)], \
     for [k = 1:gaps] NaN with boxes fillstyle solid noborder linecolor rgb '#E4E4E4' \
         title gap_title
eval panels
when(s) = (s - zero_s) / time_unit
set xrange [when(start_s) : when(end_s)]
set yrange [rows : 0]
set border 15
unset ytics
unset grid
set xlabel (zero_s > 0 ? 'time since the first job, ' : 'simulated time, ').time_name \
    textcolor rgb ink
set style fill solid 1.0 noborder
if (paper ne '') { set xtics tick_step(when(end_s) - when(start_s)) }
do for [n = 1:nodes] {
    if ((n - 1) % nth_node == 0) {
        set label 100 + n node[n] at graph 0, first (node_row[n] + node_row[n + 1]) / 2. right \
            offset -0.7, 0 textcolor rgb ink
    }
    if (n > 1 && nth_node == 1) {
        set arrow 100 + n from graph 0, first node_row[n] to graph 1, first node_row[n] \
            nohead front linewidth 0.7 linecolor rgb '#444444'
    }
}
do for [s = 1:pools] {
    set label 1000 + s pool[s] at graph (-(left_px - 18) / panel_px), \
        first (pool_row[s] + pool_row[s + 1]) / 2. center rotate by 90 textcolor rgb pale
    if (s > 1) {
        set arrow 1000 + s from graph 0, first pool_row[s] to graph 1, first pool_row[s] \
            nohead front linewidth 2.2 linecolor rgb 'black'
    }
}
do for [panel = 1:sides] {
    set lmargin at screen across(left_px + (panel - 1) * (panel_px + 25))
    set rmargin at screen across(left_px + (panel - 1) * (panel_px + 25) + panel_px)
    set tmargin at screen down(top)
    set bmargin at screen down(top + band)
    set title policy[panel == 1 ? left : right]
    if (panel == 2) { unset label }
    plot data index 3 * panel - 3 using (when($3)):1:(when($3)):(when($4)):1:2 \
             with boxxyerror fillstyle solid noborder linecolor rgb '#E4E4E4' \
             notitle, \
         for [k = 1:kinds] for [t = 0:2] data index 3 * panel - 2 using \
             ($5 == k && $6 == t ? when($3) : NaN):1:(when($3)):(when($4)):1:2 \
             with boxxyerror fillstyle solid noborder linecolor rgb tint(k, t) \
             notitle, \
         for [k = 1:(labels > 0 ? 1 : 0)] data index 3 * panel - 1 using \
             (when($1)):2:(job_name[int($3)]) \
             with labels boxed font small textcolor rgb 'black' notitle
}
unset multiplot
