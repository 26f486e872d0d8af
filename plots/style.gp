# SPDX-License-Identifier: GPL-3.0-or-later
#
# style.gp - what all figures share: format, size, letters, colours.
#
# Colours are Okabe and Ito's (Color Universal Design, 2008), told apart with
# any colour vision; dashes, points and hatching tell them apart in grey.
# Letters: large for the heading, normal, small for values at bars.
#
# Before it is loaded, a figure sets heading, note (under the figure: words
# with one blank between, cut into lines here), body (pixels between legend and
# note), entries and entry_chars where its legend is not the list of policies,
# and shown where it has room for so many of the points only: point(t) is then
# the number of the t-th that it shows, from the first to the last.
#
# For print (`clustersim plot --paper`) the head sets paper, and column_pt, most_pt
# (height), letter_pt, line_pt and letters of its style.  Only panels and legend are
# drawn then; heading and note are written as a caption.  Widths are in the same pixels,
# 16 to a letter's size, so that what fits a line fits it there, too; heights are flatter.

if (!exists('format')) format = 'png'
if (!exists('file')) file = figure.'.'.format
if (!exists('width')) width = 1200
if (!exists('paper')) paper = ''
if (!exists('stacked')) stacked = 0

most(a, b) = a > b ? a : b
policy_chars = 0
do for [p = 1:policies] { policy_chars = most(policy_chars, strlen(policy[p])) }
if (!exists('entries')) { entries = policies; entry_chars = policy_chars }

# As gnuplot lays the legend out: columns as wide as the widest entry.
legend_columns = most(1, int((width - 48) / ((entry_chars + 6.3) * 9.6)))
legend_rows = (entries + legend_columns - 1) / legend_columns
top = 131 + 19 * legend_rows        # of the panels
key_px = 84                         # the legend's place from above, and from the left
key_left = 24
key_in = 24                         # of the strip that it stands in
if (!exists('shown')) shown = points
point(t) = shown < points ? 1 + int((t - 1) * (points - 1) / (shown - 1.) + 0.5) : t
if (shown < points) {
    note = note.sprintf(' Shown are %d of %d points, evenly apart.', shown, points)
}

note_text = ''
note_lines = 1
note_chars = 0
do for [i = 1:words(note)] {
    if (note_chars > 0 && note_chars + strlen(word(note, i)) > (width - 60) / 8.1) {
        note_text = note_text."\n"
        note_lines = note_lines + 1
        note_chars = 0
    }
    note_text = note_text.(note_chars > 0 ? ' ' : '').word(note, i)
    note_chars = note_chars + strlen(word(note, i)) + 1
}
foot = 44 + 18 * note_lines
if (paper ne '') {
    across_pt = column_pt / width
    legend_columns = most(1, int((column_pt - 4) / letter_pt / (0.62 * entry_chars + 3.1)))
    legend_rows = (entries + legend_columns - 1) / legend_columns
    down_pt = 0.72 * across_pt
    top_letters = 1.15 * legend_rows + 2.3
    if ((body * down_pt + (top_letters + 0.3) * letter_pt) > most_pt) {
        down_pt = (most_pt - (top_letters + 0.3) * letter_pt) / body
    }
    top = int(top_letters * letter_pt / down_pt)
    key_px = int(0.2 * letter_pt / down_pt)
    key_left = 4
    key_in = 0
    foot = int(0.3 * letter_pt / down_pt)
}
if (!exists('height')) height = top + body + foot

set encoding utf8
if (format eq 'png') {
    eval sprintf("set terminal pngcairo noenhanced size %d,%d font 'DejaVu Sans,12' ".\
                 "linewidth 1.3", width, height)
    large = 'DejaVu Sans Bold,17'
    small = 'DejaVu Sans,10'
}
if (format eq 'svg') {
    eval sprintf("set terminal svg noenhanced size %d,%d font 'DejaVu Sans,16' ".\
                 "linewidth 1.3 background 'white'", width, height)
    large = 'DejaVu Sans,22'
    small = 'DejaVu Sans,13'
}
if (format eq 'pdf') {
    eval sprintf("set terminal pdfcairo noenhanced size %.2fin,%.2fin font 'DejaVu Sans,9' ".\
                 "linewidth 1.3", width / 120., height / 120.)
    large = 'DejaVu Sans Bold,13'
    small = 'DejaVu Sans,7.5'
}
if (paper ne '') {
    page = sprintf("size %.4fin,%.4fin", column_pt / 72.27, height * down_pt / 72.27)
    if (format eq 'pdf') {
        eval sprintf("set terminal pdfcairo noenhanced %s font '%s,%g' ".\
                     "fontscale 0.75 linewidth %g", page, letters, letter_pt, line_pt)
    }
    if (format eq 'tex') {
        size = sprintf('\fontsize{%g}{%g}\selectfont', letter_pt, 1.2 * letter_pt)
        eval sprintf("set terminal cairolatex pdf input header '%s' blacktext %s font ',%g' ".\
                     "fontscale %g linewidth %g", size, page, letter_pt, letter_pt / 11, line_pt)
    }
    small = sprintf('%s,%g', format eq 'tex' ? '' : letters, letter_pt - 1)
    large = small
}
set output file

# TeX gives a meaning to some characters of names: tex() takes it from them.
tex_sign = '%'
tex(s) = s
if (format eq 'tex') {
    tex_sign = '\%'
    tex_letter(c) = strstrt('_%&#$\{\}', c) > 0 && c ne '\' ? '\'.c : \
                    c eq '\' ? '\textbackslash{}' : c eq '~' ? '\textasciitilde{}' : \
                    c eq '^' ? '\textasciicircum{}' : c eq '<' ? '\textless{}' : \
                    c eq '>' ? '\textgreater{}' : c eq '|' ? '\textbar{}' : c
    tex(s) = strlen(s) == 0 ? '' : tex_letter(s[1:1]).tex(s[2:*])
    do for [name in 'policy point_name point_title point_value cause metric what unit_of kind '.\
                    'job_name node pool'] {
        if (exists(name)) {
            eval sprintf('do for [i = 1:|%s|] { %s[i] = tex(%s[i]) }', name, name, name)
        }
    }
    do for [name in 'point_key swept_key swept_unit time_name'] {
        if (exists(name)) { eval sprintf('%s = tex(%s)', name, name) }
    }
}

array colour[8] = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', \
                   '#56B4E9', '#D55E00', '#7F7F7F', '#000000']
array dash[8] = [1, 2, 4, 5, 3, 1, 2, 4]
set dashtype 2 (10, 3)
set dashtype 3 (2.5, 2.5)
set dashtype 4 (9, 2.5, 2.5, 2.5)
set dashtype 5 (5, 2.5)
array mark[8] = [7, 5, 9, 13, 6, 4, 8, 12]
array hatch[8] = [3, 4, 2, 5, 1, 6, 3, 7]
nth(i) = (i - 1) % 8 + 1            # policies beyond eight begin again, with
turn(i) = (i - 1) / 8               # another dash, mark or hatch
if (paper ne '') {                  # neighbours far apart in grey
    do for [i = 1:8] {
        colour[i] = word('#000000 #E69F00 #0072B2 #56B4E9 #D55E00 #CC79A7 #009E73 #999999', i)
        hatch[i] = int(word('0 4 2 5 1 6 7 0', i))
    }
}
dash_of(i) = dash[nth(i + turn(i))]
mark_of(i) = mark[nth(i + turn(i))]
hatch_of(i) = hatch[nth(i + turn(i))]
colour_of(i) = colour[nth(i)]
# A distance of ticks that leaves two to four of them.
tick_step(span) = (step10 = 10 ** floor(log10(span / 2.5)), \
                   step10 * (span / 2.5 < 2 * step10 ? 1 : span / 2.5 < 5 * step10 ? 2 : 5))
# On a logarithmic axis of few decades, numbers between them, too.
log_tics(axis, low, high) = high / low >= 200 ? '' : \
    sprintf('do for [k = %d:%d] { set %stics add (2 * 10. ** k, 5 * 10. ** k) }', \
            int(floor(log10(low))), int(floor(log10(high))), axis)
ink = '#222222'
pale = '#5A5A5A'
line = '#D0D0D0'

# Panels one below the other have one title below them all.
x_title(text, row) = stacked && row < rows - 1 ? '' : text

# Places in pixels from the top left corner, and below.
down(px) = 1 - px / (1. * height)
up(px) = px / (1. * height)
across(px) = px / (1. * width)

if (!exists('fixed')) fixed = 0          # of a figure that is of no experiment
seeds_text = fixed ? 'deterministic: seeds add nothing, so no intervals' : \
             seeds == 1 ? 'one seed, so no intervals' : sprintf('%d seeds', seeds)
if (paper eq '') {
    set label 1 heading at screen across(24), screen down(30) font large textcolor rgb ink
    set label 2 experiment.', '.seeds_text at screen across(24), screen down(62) textcolor rgb pale
    set label 3 note_text at screen across(24), screen up(foot - 27) textcolor rgb pale
}
if (format eq 'tex') {
    set print figure.'-caption.tex'
    caption = heading.' ('.experiment.', '.seeds_text.'). '.note
    print '\caption{%'
    caption_line = ''
    do for [i = 1:words(caption)] {
        caption_line = caption_line.(i > 1 ? ' ' : '').tex(word(caption, i))
        if (strlen(caption_line) > 70 || i == words(caption)) {
            print caption_line
            caption_line = ''
        }
    }
    print '}'
    set print
}

set style fill solid 1.0
set style textbox opaque noborder fillcolor rgb 'white' margins 0.6, 0.3
set bars 0.6
set title textcolor rgb ink offset 0,-0.3

# A page: heading and legend in a strip along the top (the figure's first
# plot, of nothing but titles), then, after `eval panels`, its panels.
set multiplot
set lmargin at screen across(key_in)
set rmargin at screen across(width - key_in)
set tmargin at screen down(key_px)
set bmargin at screen down(key_px + 2)
set xrange [0:1]
set yrange [0:1]
unset border
unset tics
set key at screen across(key_left), screen down(key_px) left top horizontal Left reverse \
    samplen (paper eq '' ? 2.6 : 2) height 0 textcolor rgb ink
if (paper ne '') { set key maxcols legend_columns }
panels = "unset label; unset key; set border 3 linecolor rgb '#888888'; ".\
         "set xtics nomirror scale 0.6 textcolor rgb ink; set ytics nomirror textcolor rgb ink; ".\
         "set grid ytics linecolor rgb line linewidth 0.7 dashtype 1"
