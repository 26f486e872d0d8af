/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_look.c - how the lines of a text file are laid out.
 *
 * A second reading, a block at a time: those who read lines need not count.
 */
#include "sim/text/scan_look.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#define BLOCK_BYTES 65536

struct looker {
    struct scan_look *look;
    bool text;                  /* this line has more than blanks */
    bool any;                   /* it has anything */
    bool after_return;          /* the last byte was a CR */
};

/* Counts the lines that end in these bytes; the state of a line that goes on
 * is kept in the looker. */
static void look_at(struct looker *l, const char *bytes, size_t count)
{
    assert(count <= BLOCK_BYTES);
    for (size_t i = 0; i < count; i++) {
        char c = bytes[i];

        if (c == '\n') {
            l->look->lines++;
            l->look->returns += l->after_return;
            l->look->blank += !l->text;
            l->text = l->any = l->after_return = false;
            continue;
        }
        l->any = true;
        l->text = l->text || (c != ' ' && c != '\t' && c != '\r');
        l->after_return = c == '\r';
    }
}

bool scan_look(const char *path, struct scan_look *look, struct err *err)
{
    struct err_pos pos = { path, 0, 0 };
    struct looker looker = { .look = look };
    char block[BLOCK_BYTES];
    gzFile file = gzopen(path, "rb");
    bool first = true;
    int got;

    assert(path != NULL && look != NULL);
    *look = (struct scan_look){ 0 };
    if (file == NULL)
        return err_set(err, ERR_IO, pos, "cannot read the file again");
    while ((got = gzread(file, block, sizeof block)) > 0) {
        size_t from = 0;

        if (first && got >= 3 && memcmp(block, "\xEF\xBB\xBF", 3) == 0) {
            look->mark = true;
            from = 3;
        }
        first = false;
        look_at(&looker, block + from, (size_t)got - from);
    }
    gzclose_r(file);
    look->open_end = looker.any;
    look->lines += looker.any;
    look->blank += looker.any && !looker.text;
    return got == 0 || err_set(err, ERR_IO, pos, "cannot read the file again");
}
