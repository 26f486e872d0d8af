/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gnuplot.c - runs gnuplot, and finds the line that says what was wrong.
 *
 * Several pictures are drawn by one gnuplot, since most of the time of a small chart is taken by
 * the start of the program.  If one of them fails, each is drawn by a gnuplot of its own.  So are
 * charts in SVG and PDF: these drivers keep what the chart before them set.
 *
 * The chart is drawn into an empty file beside, and renamed.  Where it is a picture, a letter
 * that no font of this machine has is drawn as a square: Pango writes the number of such a
 * letter in a box, and where gnuplot draws, that box is larger than the chart.
 */
#include "experiments/report/plot_gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/process/program.h"
#include "experiments/process/stop.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/utf8.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define LINE_BYTES 160
#define LIMIT_S 120u            /* a chart takes a second; one that hangs is ended */

extern char **environ;

/* Would a variable of the environment change a chart: its terminal and
 * settings, fonts, the locale? */
static bool decides(const char *variable)
{
    static const char *const begins[] = { "GNUTERM", "GNUPLOT_", "GNUHELP", "FIT_", "GDFONTPATH",
                                          "FONTLIST", "LC_", "LANG" };

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(variable, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Returns the environment without those, and with the locale C.UTF-8. */
static char *const *plain_environment(struct arena *arena)
{
    size_t count = 0, kept = 0;

    while (environ[count] != NULL)
        count++;
    char **env = arena_alloc(arena, count + 2, sizeof *env);
    for (size_t i = 0; i < count; i++)
        if (!decides(environ[i]))
            env[kept++] = environ[i];
    env[kept++] = text_format(arena, "LC_ALL=C.UTF-8");
    return env;
}

/* Finds the line that says what is wrong: one that begins with the script's name
 * in quotation marks, else the first, else none. gnuplot may first show the line
 * that it stumbled over. */
static void find_complaint(const char *said, char line[LINE_BYTES])
{
    line[0] = '\0';
    for (; *said != '\0'; said += strcspn(said, "\n")) {
        said += strspn(said, " \n");
        if (*said != '\0' && (line[0] == '\0' || (line[0] != '"' && *said == '"')))
            snprintf(line, LINE_BYTES, "%.*s", (int)strcspn(said, "\n"), said);
    }
}

/* Sets err by the status of the program and what it said.  Returns false. */
static bool say_why(struct err_pos pos, int status,
                    const char *complaint, struct err *err)
{
    if (status == PROGRAM_NOT_THERE) {
        err_set(err, ERR_IO, pos, "gnuplot is not installed: no chart drawn");
        return err_hint(err, "Install the package gnuplot-nox (Debian), then "
                        "run `clustersim plot` on the folder.");
    }
    if (status == PROGRAM_TOO_LONG)
        return err_set(err, ERR_IO, pos, "gnuplot took more than %u s, and was ended",
                       LIMIT_S);
    return err_set(err, ERR_IO, pos, "gnuplot failed: %s",
                   complaint[0] != '\0' ? complaint : "it did not say why");
}

/* ---- letters that no font here has ------------------------------------------ */

#define FONTS_BYTES (1u << 22)  /* for what fc-list says; 38 fonts are 50 kB */
#define LETTERS 0x110000u       /* of Unicode */
#define SQUARE "\xe2\x96\xa1"   /* U+25A1 */

/* Has DejaVu Sans, the font of the charts, the letter in any case?  Latin, Greek and Cyrillic;
 * punctuation, arrows and signs. */
static bool is_common(uint32_t letter)
{
    return letter < 0x530 || (letter >= 0x2000 && letter < 0x2c00);
}

/* Returns the number of the character at text, and its bytes; a byte that is of none stands
 * for itself. */
static uint32_t read_letter(const char *text, size_t room, size_t *bytes)
{
    uint32_t letter = (unsigned char)text[0];

    *bytes = utf8_character(text, room);
    if (*bytes == 0 || *bytes > room)
        *bytes = 1;
    if (*bytes == 1)
        return letter;
    letter &= 0xffu >> (*bytes + 1);
    for (size_t i = 1; i < *bytes; i++)
        letter = letter << 6 | ((unsigned char)text[i] & 0x3fu);
    return letter;
}

/* Marks the letters of a list such as "20-7e a0 a2-17f", in hexadecimal numbers.  False: it is
 * no such list. */
static bool mark_letters(const char *list, bool *has)
{
    while (*(list += strspn(list, " \n")) != '\0') {
        char *end;
        unsigned long low = strtoul(list, &end, 16), high = low;

        if (end != list && *end == '-')
            high = strtoul(list = end + 1, &end, 16);
        if (end == list || low > high || high >= LETTERS)
            return false;
        memset(&has[low], true, high - low + 1);
        list = end;
    }
    return true;
}

/* Returns of each letter whether a font of this machine has it, or NULL: fontconfig does not
 * tell. */
static const bool *find_fonts(struct arena *arena)
{
    char *const words[] = { "fc-list", "--format", "%{charset} ", NULL };
    char said[LINE_BYTES], *answer = arena_alloc(arena, FONTS_BYTES, 1);
    bool *has = arena_alloc(arena, LETTERS, sizeof *has);
    const struct program program = { .word = words, .folder = -1, .said = said,
                                     .said_bytes = sizeof said, .answer = answer,
                                     .answer_bytes = FONTS_BYTES, .limit_s = LIMIT_S };

    if (program_run(&program) != 0 || strlen(answer) + 1 == FONTS_BYTES ||
        !mark_letters(answer, has))
        return NULL;
    return has;
}

/* Has a text letters that not every machine has a font for? */
static bool is_foreign(const char *text, size_t count)
{
    for (size_t at = 0, bytes; at < count; at += bytes)
        if (!is_common(read_letter(text + at, count - at, &bytes)))
            return true;
    return false;
}

/* Writes the text, with squares for letters without a font.  False: it could not be
 * written. */
static bool write_squares(int fd, const char *text, size_t count, const bool *has)
{
    FILE *file = fdopen(fd, "wb");
    bool ok;

    if (file == NULL) {
        (void)close(fd);
        return false;
    }
    for (size_t at = 0, bytes; at < count; at += bytes) {
        uint32_t letter = read_letter(text + at, count - at, &bytes);
        bool square = !is_common(letter) && !has[letter];

        fwrite(square ? SQUARE : text + at, 1, square ? sizeof SQUARE - 1 : bytes, file);
    }
    ok = !ferror(file);
    return fclose(file) == 0 && ok;
}

/* Returns the text of a script and its bytes; NULL: it cannot be read. */
static const char *read_script(struct arena *arena, const struct folder *dir,
                               const char *script, size_t *count)
{
    FILE *file = folder_read(dir, script);
    struct stat st;
    char *text;

    if (file == NULL)
        return NULL;
    *count = fstat(fileno(file), &st) == 0 ? (size_t)st.st_size : 0;
    text = arena_alloc(arena, *count + 1, 1);
    *count = fread(text, 1, *count, file);
    fclose(file);
    return text;
}

/* Returns the script that draws a picture: NAME.gp or, if it has letters that not every machine
 * has, a copy of it beside, with squares for those without a font, which the caller removes. */
static const char *choose_script(struct arena *arena, const struct folder *dir,
                                 const char *script)
{
    struct arena *own = arena_new(1 << 16);
    size_t count = 0;
    const char *text = read_script(own, dir, script, &count), *copy = script;
    const bool *has = text != NULL && is_foreign(text, count) ? find_fonts(own) : NULL;
    int fd = has != NULL ? out_part(arena, folder_handle(dir), script, &copy) : -1;

    if (fd < 0) {
        copy = script;
    } else if (!write_squares(fd, text, count, has)) {
        (void)unlinkat(folder_handle(dir), copy, 0);
        copy = script;
    }
    arena_free(own);
    return copy;
}

/* ---- a run of gnuplot -------------------------------------------------------- */

/* Runs gnuplot with these words, which end with NULL, and with that mask of signals, if the
 * caller holds them back.  False: err says what it said, of the script `script`. */
static bool run_words(struct arena *arena, const struct folder *dir, char *const *words,
                      const char *script, const sigset_t *held, struct err *err)
{
    struct err_pos pos = { folder_join(arena, dir, script), 0, 0 };
    char said[2048], complaint[LINE_BYTES];
    const struct program program = { .word = words, .folder = folder_handle(dir),
                                     .said = said, .said_bytes = sizeof said, .held = held,
                                     .env = plain_environment(arena), .limit_s = LIMIT_S };
    int status = program_run(&program);

    if (status == 0)
        return true;
    find_complaint(said, complaint);
    return say_why(pos, status, complaint, err);
}

/* A chart that is drawn: its script, and the file that gets the picture first. */
struct picture {
    const char *own, *script;   /* NAME.gp; or the copy of it with squares */
    const char *part, *whole;
};

/* Makes the empty file of a picture, and chooses its script.  False, with err. */
static bool begin_picture(struct arena *arena, const struct folder *dir, const char *name,
                          const char *format, struct picture *picture, struct err *err)
{
    int fd;

    picture->own = picture->script = text_format(arena, "%s.gp", name);
    picture->whole = text_format(arena, "%s.%s", name, format);
    fd = out_part(arena, folder_handle(dir), name, &picture->part);
    if (fd < 0) {
        struct err_pos pos = { folder_join(arena, dir, picture->whole), 0, 0 };

        return err_set(err, ERR_IO, pos, "cannot be drawn: %s", strerror(errno));
    }
    (void)close(fd);
    if (strcmp(format, "svg") != 0)     /* in SVG letters stay letters */
        picture->script = choose_script(arena, dir, picture->own);
    return true;
}

/* Gives a picture that was drawn its name, and removes what is left beside. */
static bool end_picture(struct arena *arena, const struct folder *dir,
                        const struct picture *picture, bool ok, struct err *err)
{
    struct err_pos pos = { folder_join(arena, dir, picture->whole), 0, 0 };
    int at = folder_handle(dir);

    if (picture->script != picture->own)
        (void)unlinkat(at, picture->script, 0);
    if (ok && renameat(at, picture->part, at, picture->whole) != 0)
        ok = err_set(err, ERR_IO, pos, "cannot be drawn: %s", strerror(errno));
    if (!ok)
        (void)unlinkat(at, picture->part, 0);
    return ok;
}

/* Runs the scripts of pictures, one after the other in one gnuplot.  What one of them set
 * is forgotten before the next: `reset session` leaves the encoding alone. */
static bool run_pictures(struct arena *arena, const struct folder *dir,
                         const struct picture *picture, size_t count, const char *format,
                         const sigset_t *held, struct err *err)
{
    char **word = arena_alloc(arena, 7 * count + 3, sizeof *word);
    size_t words = 0;

    word[words++] = text_format(arena, "gnuplot");
    word[words++] = text_format(arena, "-d");
    for (size_t i = 0; i < count; i++) {
        word[words++] = text_format(arena, "-e");
        if (i > 0) {
            word[words++] = text_format(arena, "reset session");
            word[words++] = text_format(arena, "-e");
            word[words++] = text_format(arena, "set encoding default");
            word[words++] = text_format(arena, "-e");
        }
        word[words++] = text_format(arena, "format = '%s'; file = '%s'", format,
                                    picture[i].part);
        word[words++] = text_format(arena, "%s", picture[i].script);
    }
    return run_words(arena, dir, word, picture[0].script, held, err);
}

/* Draws by one run of gnuplot: all charts, or none.  A signal waits until the files beside are
 * put away, and ends gnuplot meanwhile. */
static bool draw_together(struct arena *arena, const struct folder *dir,
                          const char *const *name, size_t count, const char *format,
                          struct err *err)
{
    struct picture *picture = arena_alloc(arena, count, sizeof *picture);
    sigset_t before;
    size_t begun = 0;
    bool ok = true;

    stop_hold(&before);
    while (ok && begun < count) {
        ok = begin_picture(arena, dir, name[begun], format, &picture[begun], err);
        begun += ok;
    }
    ok = ok && run_pictures(arena, dir, picture, count, format, &before, err);
    for (size_t i = 0; i < begun; i++)
        ok = end_picture(arena, dir, &picture[i], ok, err) && ok;
    stop_release(&before);
    return ok;
}

/* A picture of an earlier run stays until the new one is complete. */
bool plot_gnuplot(struct arena *arena, const struct folder *dir,
                  const char *name, const char *format, struct err *err)
{
    return draw_together(arena, dir, &name, 1, format, err);
}

bool plot_gnuplot_all(struct arena *arena, const struct folder *dir,
                      const char *const *name, size_t count, const char *format,
                      struct err *err)
{
    struct err together = { 0 };

    if (count > 1 && strcmp(format, "png") == 0 &&
        draw_together(arena, dir, name, count, format, &together))
        return true;
    for (size_t i = 0; i < count; i++)
        if (!plot_gnuplot(arena, dir, name[i], format, err))
            return false;
    return true;
}

/* Removes the parts of a figure for TeX. */
static bool remove_tex(struct arena *arena, const struct folder *dir,
                       const char *name, struct err *err)
{
    static const char *const ending[] = { "-tex.tex", "-tex.pdf", "-caption.tex" };
    bool ok = true;

    for (size_t i = 0; ok && i < sizeof ending / sizeof ending[0]; i++)
        ok = folder_remove(arena, dir, text_format(arena, "%s%s", name, ending[i]),
                           err);
    return ok;
}

/* Old parts are removed first, so that parts of two runs never stand together. */
bool plot_gnuplot_tex(struct arena *arena, const struct folder *dir,
                      const char *name, struct err *err)
{
    char *script = text_format(arena, "%s.gp", name);
    char *const words[] = {
        "gnuplot", "-d", "-e",
        text_format(arena, "format = 'tex'; file = '%s-tex.tex'", name), script, NULL
    };
    struct err ignored = { 0 };

    if (!remove_tex(arena, dir, name, err))
        return false;
    if (run_words(arena, dir, words, script, NULL, err))
        return true;
    (void)remove_tex(arena, dir, name, &ignored);
    return false;
}
