/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.c - text files, plain, gzip or zstd, read line by line; numbers in them.
 *
 * One buffer holds the longest allowed line and one block more.  Lines are
 * cut in place; when no line end is left, the rest moves to the front and the
 * next block is read behind it.  zlib reads plain files as they are.
 */
#include "sim/text/scan.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/base/arena.h"
#include "sim/base/decimal.h"
#include "sim/base/utf8.h"
#include "sim/text/foreign.h"
#include "sim/text/scan_gzip.h"
#include "sim/text/scan_zstd.h"

#define BLOCK_BYTES     ((size_t)1 << 16)
#define LINE_BYTES_MAX  ((size_t)1 << 20)

struct scan {
    const char *path;           /* the caller's */
    gzFile file;
    struct scan_zstd *zstd;     /* NULL: plain or gzip, which `file` reads */
    int fd;                     /* of `file`; closed with it */
    off_t bytes;                /* of the file when it was opened */
    uint64_t data_bytes;        /* read so far, unpacked */
    uint32_t line;              /* of the line given last, 0 before any */
    size_t start, end;          /* what is read and not yet given */
    bool all_read;
    bool failed;                /* nothing follows an error */
    bool has_nul;               /* what was read last has a NUL in it */
    char buffer[LINE_BYTES_MAX + BLOCK_BYTES + 1 + SCAN_SLACK];
};

/* Reports that a file cannot be read; returns false. */
static bool fail_open(struct err *err, const char *path, int code)
{
    assert(code != 0);
    struct err_pos pos = {path, 0, 0};

    err_set(err, ERR_IO, pos, "cannot read the file: %s", strerror(code));
    if (code == ENOENT)
        err_hint_path(err, path, "Paths on the command line are relative to "
                      "the current folder, those in a file to the file.");
    return false;
}

/* An open descriptor of a file, or -1.  A pipe would block here, and could
 * not be read once for the check and again by every trial. */
static int open_stream(const char *path, off_t *bytes, struct err *err)
{
    struct stat status = {0};
    struct err_pos pos = {path, 0, 0};
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        fail_open(err, path, errno);
        return -1;
    }
    /* open() takes a folder; read() would refuse it in words that help less. */
    if (fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
        fail_open(err, path, EISDIR);
        close(fd);
        return -1;
    }
    if (!S_ISREG(status.st_mode)) {
        err_set(err, ERR_IO, pos,
                "cannot read the file: it is not a regular file");
        close(fd);
        return -1;
    }
    *bytes = status.st_size;
    assert(fd >= 0 && *bytes >= 0);
    return fd;
}

struct scan *scan_open(const char *path, struct err *err)
{
    assert(path != NULL && err != NULL);
    off_t file_bytes;
    int fd = open_stream(path, &file_bytes, err);
    if (fd < 0)
        return NULL;
    gzFile file = gzdopen(fd, "rb");
    if (file == NULL)
        arena_run_out();
    struct scan *scan = arena_resize_own(NULL, 1, sizeof *scan);
    scan->path = path;
    scan->file = file;
    /* gzread() reads plain files as they are, so that only zstd needs a reader beside it. */
    scan->zstd = scan_zstd_is(fd) ? scan_zstd_open(fd) : NULL;
    scan->fd = fd;
    scan->bytes = file_bytes;
    scan->data_bytes = 0;
    scan->line = 0;
    scan->start = scan->end = 0;
    scan->all_read = scan->failed = scan->has_nul = false;
    return scan;
}

void scan_close(struct scan *scan)
{
    if (scan == NULL)
        return;
    assert(scan->file != NULL);
    scan_zstd_close(scan->zstd);
    gzclose_r(scan->file);
    free(scan);
}

struct err_pos scan_pos(const struct scan *scan, uint32_t col)
{
    assert(scan != NULL);
    return (struct err_pos){scan->path, scan->line, col};
}

/* Reports a fault in the line read last; nothing follows it. */
static enum scan_step report_fault(struct scan *scan, struct err *err,
                                   enum err_kind kind, uint32_t col, const char *what)
{
    assert(kind != ERR_NONE);
    scan->failed = true;
    err_set(err, kind, scan_pos(scan, col), "%s", what);
    return SCAN_ERROR;
}

/* Unpacks up to a block; false with an err on bad data. */
static bool unpack_zstd(struct scan *scan, char *to, size_t *count, struct err *err)
{
    enum scan_zstd_fault fault;

    *count = scan_zstd_read(scan->zstd, to, BLOCK_BYTES, &fault);
    assert(*count <= BLOCK_BYTES);
    if (fault == SCAN_ZSTD_FILE) {
        scan->failed = true;
        return fail_open(err, scan->path, errno);
    }
    if (fault == SCAN_ZSTD_SHORT) {
        report_fault(scan, err, ERR_IO, 0, "the zstd data ends too early");
        return err_hint(err, "The file was truncated; fetch it again.");
    }
    if (fault == SCAN_ZSTD_NONE)
        return true;
    report_fault(scan, err, ERR_IO, 0, "the zstd data is corrupt");
    return err_hint(err, "The file is damaged, or other bytes follow its data, or it was packed "
                    "with --long; unpack it by zstd -d --long=31, or fetch it again.");
}

/* Reads up to a block, unpacked if it is gzip; false with an err on bad data. */
static bool read_gzip(struct scan *scan, char *to, size_t *count, struct err *err)
{
    errno = 0;
    int got = gzread(scan->file, to, BLOCK_BYTES);
    int code = Z_OK;
    gzerror(scan->file, &code);
    /* zlib calls the end of a file within a member so; a damaged one is Z_DATA_ERROR. */
    if (code == Z_BUF_ERROR) {
        report_fault(scan, err, ERR_IO, 0, "the gzip data ends too early");
        return err_hint(err, "The file was truncated; fetch it again.");
    }
    if (got < 0 && code == Z_ERRNO) {
        scan->failed = true;
        return fail_open(err, scan->path, errno);
    }
    if (code == Z_MEM_ERROR)
        arena_run_out();
    if (got < 0) {
        report_fault(scan, err, ERR_IO, 0, "the gzip data is corrupt");
        return err_hint(err, "The file is damaged; fetch it again.");
    }
    assert((size_t)got <= BLOCK_BYTES);
    *count = (size_t)got;
    return true;
}

/* Reads one block behind what is left; false with an err on bad data. */
static bool read_block(struct scan *scan, struct err *err)
{
    assert(scan->end - scan->start <= LINE_BYTES_MAX);
    size_t left = scan->end - scan->start, got = 0;
    /* The unread end of a line goes to the front, so that a line is always in one piece. */
    memmove(scan->buffer, scan->buffer + scan->start, left);
    scan->start = 0;
    scan->end = left;
    if (scan->zstd != NULL ? !unpack_zstd(scan, scan->buffer + left, &got, err)
                           : !read_gzip(scan, scan->buffer + left, &got, err))
        return false;
    /* Cut lines end with NUL, but they lie before what is left. */
    scan->has_nul = memchr(scan->buffer, '\0', left + got) != NULL;
    scan->end += got;
    scan->data_bytes += got;
    scan->all_read = got < BLOCK_BYTES;
    assert(scan->end <= LINE_BYTES_MAX + BLOCK_BYTES);
    return true;
}

/* Is the file UTF-16?  It begins with a byte order mark, or every second byte of its first two
 * characters is 0: ASCII in UTF-16. */
static bool is_utf16(const struct scan *scan)
{
    const unsigned char *text = (const unsigned char *)scan->buffer;

    if (scan->end < 4)
        return false;
    assert(scan->end >= 4);
    return (text[0] == 0xFF && text[1] == 0xFE) ||
           (text[0] == 0xFE && text[1] == 0xFF) ||
           (text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0) ||
           (text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0);
}

/* Reports a byte that is not of UTF-8 text, and whether the file looks like
 * UTF-16. Returns false. */
static bool report_byte(struct scan *scan, struct err_pos pos, unsigned byte,
                        struct err *err)
{
    assert(byte <= 0xFF && pos.line > 0);
    scan->failed = true;
    if (is_utf16(scan)) {
        err_set(err, ERR_SYNTAX, pos, "the file is text in UTF-16");
        return err_hint(err, "Save it in UTF-8, or: iconv -f UTF-16 -t UTF-8.");
    }
    err_set(err, ERR_SYNTAX, pos, "byte 0x%02X is not UTF-8 text", byte);
    return err_hint(err, "Save the file as plain text in UTF-8.");
}

/* A carriage return alone, which ended lines before Mac OS X.  A file with such
 * ends would be one line. */
static bool is_lone_return(const struct scan *scan, size_t i)
{
    assert(i < scan->end);
    return scan->buffer[i] == '\r' && i + 1 < scan->end &&
           scan->buffer[i + 1] != '\n' && scan->buffer[i + 1] != '\r';
}

/* The first block tells whether the file is text at all. */
static bool check_first_block(struct scan *scan, struct err *err)
{
    const unsigned char *text = (const unsigned char *)scan->buffer;
    struct err_pos pos = {scan->path, 1, 1};

    assert(scan->start == 0);
    /* A spreadsheet, a picture, Parquet ... is named, with how to export it. */
    if (foreign_find(scan->path, scan->buffer, scan->end, true, err)) {
        scan->failed = true;
        return false;
    }
    if (scan->end >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        scan->start = 3;                /* a byte order mark says nothing */
    for (size_t i = scan->start; i < scan->end;) {
        size_t bytes = utf8_character(scan->buffer + i, scan->end - i);
        /* A character that the block cuts: its rest is in the next one. */
        if (bytes == SIZE_MAX && !scan->all_read)
            break;
        if (bytes == 0 || bytes == SIZE_MAX || text[i] == '\0')
            return report_byte(scan, pos, text[i], err);
        if (is_lone_return(scan, i)) {
            scan->failed = true;
            err_set(err, ERR_SYNTAX, pos,
                    "a carriage return that ends no line");
            return err_hint(err, "End lines with a line feed, as Unix does, "
                                 "or with both, as Windows does.");
        }
        pos.col++;
        if (text[i] == '\n') {
            pos.line++;
            pos.col = 1;
        }
        i += bytes;
    }
    return true;
}

/* Makes sure that a whole line, or the end, is in the buffer. */
static bool find_line(struct scan *scan, char **newline, struct err *err)
{
    size_t seen = 0;

    assert(scan->start <= scan->end && newline != NULL);
    for (;;) {
        char *from = scan->buffer + scan->start + seen;
        size_t left = scan->end - scan->start - seen;
        /* Only what came since the last look: a long line is not searched again. */
        *newline = memchr(from, '\n', left);
        if (*newline != NULL || scan->all_read)
            return true;
        seen += left;
        if (seen > LINE_BYTES_MAX) {
            scan->line++;
            report_fault(scan, err, ERR_SYNTAX, 1, SCAN_LONG_LINE);
            return false;
        }
        /* Nothing was read yet, so that the buffer will hold the file's beginning. */
        bool first = scan->line == 0 && scan->end == 0;
        if (!read_block(scan, err))
            return false;
        if (first && !check_first_block(scan, err))
            return false;
    }
}

/* Columns count characters: continuation bytes of UTF-8 are none. */
static uint32_t column_of_nul(const char *line)
{
    uint32_t col = 1;

    for (; *line != '\0'; line++)
        col += ((unsigned char)*line & 0xC0) != 0x80;
    assert(col > 0);
    return col;
}

/* Everything was read: is it the whole file?  A file that another program still
 * writes would be cut off anywhere, perhaps within a number.  So a size that
 * changed since the file was opened is an error. */
static enum scan_step check_end(struct scan *scan, struct err *err)
{
    assert(scan->all_read);
    struct stat status;

    if (fstat(scan->fd, &status) == 0 && status.st_size == scan->bytes) {
        /* zstd checks its own end; a plain file has none but that of the file. */
        if (scan->zstd != NULL || gzdirect(scan->file) ||
            scan_gzip_ends(scan->fd, scan->bytes, scan->data_bytes))
            return SCAN_END;
        report_fault(scan, err, ERR_IO, 0, "other bytes follow the gzip data");
        err_hint(err, "The file is damaged; fetch it again.");
        return SCAN_ERROR;
    }
    report_fault(scan, err, ERR_IO, 0, "the file changed its size while it was read");
    err_hint(err, "Wait until it is complete.");
    return SCAN_ERROR;
}

/* Returns a line in the buffer, ended by a zero byte in place of its newline;
 * CR LF counts as one newline.  It is good until the next call. */
enum scan_step scan_line(struct scan *scan, char **line, size_t *bytes,
                         struct err *err)
{
    assert(scan != NULL && line != NULL && bytes != NULL);
    assert(!scan->failed);
    char *newline;

    if (!find_line(scan, &newline, err))
        return SCAN_ERROR;
    if (newline == NULL && scan->start == scan->end)
        return check_end(scan, err);
    char *start = scan->buffer + scan->start;
    char *end = newline != NULL ? newline : scan->buffer + scan->end;
    size_t length = (size_t)(end - start);

    scan->start += length + (newline != NULL);
    scan->line++;
    if (length > LINE_BYTES_MAX)
        return report_fault(scan, err, ERR_SYNTAX, 1, SCAN_LONG_LINE);
    if (scan->has_nul && memchr(start, '\0', length) != NULL)
        return report_fault(scan, err, ERR_SYNTAX, column_of_nul(start),
                            "a NUL byte: the file is not text");
    if (length > 0 && start[length - 1] == '\r')
        length--;
    start[length] = '\0';
    *line = start;
    *bytes = length;
    return SCAN_LINE;
}

/* Digits alone, few enough to fit: what most fields of traces are. */
#define PLAIN_DIGITS_MAX 9u
/* The fast path of most numbers: digits alone, few enough that they cannot
 * overflow. */
static bool read_plain_digits(const char *text, size_t bytes, uint64_t *out)
{
    uint64_t size = 0;

    if (bytes == 0 || bytes > PLAIN_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        uint32_t digit = (uint32_t)(unsigned char)text[i] - '0';
        if (digit > 9)
            return false;
        size = size * 10 + digit;
    }
    *out = size;
    return true;
}

/* Apart from scan_i64, which needs no registers saved without it. */
__attribute__((noinline)) static bool read_signed_digits(const char *text,
                                                         size_t bytes, int64_t *out)
{
    size_t i = bytes > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = i == 1 && text[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t size = 0;

    if (i == bytes)
        return false;
    for (; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (size > (limit - digit) / 10)
            return false;
        size = size * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    assert(size <= limit);
    return true;
}

bool scan_i64(const char *text, size_t bytes, int64_t *out)
{
    assert(text != NULL && out != NULL);
    uint64_t size;

    if (!read_plain_digits(text, bytes, &size))
        return read_signed_digits(text, bytes, out);
    *out = (int64_t)size;
    return true;
}

/* Reads digits with at most one point among them, few enough that the digits and the power of
 * ten are doubles, and their quotient is rounded once: the nearest double. */
static bool read_plain_f64(const char *text, size_t bytes, double *out)
{
    static const double power[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
                                   1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t lead = 0;
    size_t point = bytes;       /* where it stands */

    if (bytes == 0 || bytes > sizeof power / sizeof *power)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        uint32_t digit = (uint32_t)(unsigned char)text[i] - '0';

        if (digit <= 9)
            lead = lead * 10 + digit;
        else if (text[i] == '.' && point == bytes)
            point = i;
        else
            return false;
    }
    if (point < bytes && bytes == 1)
        return false;
    if (point == bytes && bytes == sizeof power / sizeof *power)
        return false;           /* 16 digits */
    assert(lead <= 999999999999999);
    *out = (double)lead / power[point < bytes ? bytes - 1 - point : 0];
    return true;
}

/* Apart from scan_f64, which needs no registers saved without it. */
__attribute__((noinline)) static bool read_decimal_f64(const char *text, size_t bytes,
                                                       double *out)
{
    struct decimal decimal;

    return decimal_read(text, bytes, &decimal) == bytes && bytes > 0 &&
           decimal_to_f64(&decimal, out);
}

/* Apart from scan_time, which needs no registers saved without it. */
__attribute__((noinline)) static bool read_decimal_time(const char *text,
                                                        size_t bytes, int64_t *ns)
{
    struct decimal decimal;

    return decimal_read(text, bytes, &decimal) == bytes && bytes > 0 &&
           decimal_to_ns(&decimal, ns);
}

bool scan_f64(const char *text, size_t bytes, double *out)
{
    assert(text != NULL || bytes == 0);
    return read_plain_f64(text, bytes, out) || read_decimal_f64(text, bytes, out);
}

bool scan_time(const char *text, size_t bytes, int64_t *ns)
{
    uint64_t whole;

    assert((text != NULL || bytes == 0) && ns != NULL);
    if (!read_plain_digits(text, bytes, &whole))
        return read_decimal_time(text, bytes, ns);
    *ns = (int64_t)(whole * 1000000000u);
    return true;
}
