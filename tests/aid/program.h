/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - the program as its users have it: run with arguments, judged by
 * its exit status and by the files that it writes.
 *
 * The program is the one that was built with the test: BUILD/tests/x_test
 * runs BUILD/clustersim.  Results go to a folder of their own under /tmp.
 */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <assert.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PROGRAM_ARGS_MAX 20

struct program {
    char path[512];             /* of the program */
    char folder[64];            /* scratch; dropped by program_close */
};

/* argv0: of the test, as main got it. */
static inline void program_open(struct program *program, const char *argv0)
{
    const char *slash = strrchr(argv0, '/');
    int folder = slash ? (int)(slash - argv0) : 0;

    memset(program, 0, sizeof *program);
    snprintf(program->path, sizeof program->path, "%.*s/../clustersim",
             folder ? folder : 1, folder ? argv0 : ".");
    strcpy(program->folder, "/tmp/clustersim-test-XXXXXX");
    assert(mkdtemp(program->folder));
}

/* Waits for it; its exit status, or 128 and its signal.  What it says goes
 * to log, or nowhere. */
static inline int program_spawn(const char *const argv[], const char *log)
{
    int status;
    pid_t pid = fork();

    assert(pid >= 0);
    if (pid == 0) {
        int fd = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
                      0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(126);
        execvp(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    assert(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void program_close(struct program *program)
{
    const char *argv[] = { "rm", "-rf", program->folder, NULL };

    assert(strncmp(program->folder, "/tmp/", 5) == 0);
    assert(program_spawn(argv, NULL) == 0);
}

/* The whole file, with a '\0' behind it; NULL: it cannot be read. */
static inline char *program_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t used = 0, room = 1 << 16, got;
    char *text = malloc(room);

    if (!file || !text)
        return free(text), NULL;
    while ((got = fread(text + used, 1, room - used - 1, file)) > 0) {
        used += got;
        if (room - used < 2)
            text = realloc(text, room *= 2);
        assert(text);
    }
    fclose(file);
    text[used] = '\0';
    return text;
}

/* FOLDER/name, good until the fourth call from here. */
static inline const char *program_path(const struct program *program,
                                       const char *name)
{
    static char path[4][192];
    static unsigned next;
    char *out = path[next++ % 4];

    snprintf(out, sizeof path[0], "%s/%s", program->folder, name);
    return out;
}

/* Writes a file of the folder; its path, as of program_path. */
static inline const char *program_write(const struct program *program,
                                        const char *name, const char *text)
{
    const char *path = program_path(program, name);
    FILE *file = fopen(path, "wb");

    assert(file && fputs(text, file) >= 0);
    assert(fclose(file) == 0);
    return path;
}

/* Runs it with these words, which end with NULL; its status, and what it says,
 * to be freed. */
static inline int program_say(const struct program *program,
                              const char *const *words, char **said)
{
    const char *argv[PROGRAM_ARGS_MAX + 2] = { program->path };
    const char *log = program_path(program, "log");
    size_t n = 1;

    while (*words) {
        assert(n < PROGRAM_ARGS_MAX);
        argv[n++] = *words++;
    }
    int status = program_spawn(argv, log);
    *said = program_read(log);
    assert(*said);
    return status;
}

/* What program_say gave must have this part. */
static inline void assert_part(const char *said, const char *part)
{
    if (strstr(said, part) == NULL)
        fail_msg("does not say \"%s\":\n%s", part, said);
}

/* Set-up and tear-down of a test with a program of its own as its state; main
 * sets program_argv0 before. */
extern const char *program_argv0;
static inline int program_setup(void **state)
{
    struct program *program = calloc(1, sizeof *program);

    assert(program && program_argv0);
    program_open(program, program_argv0);
    *state = program;
    return 0;
}

static inline int program_teardown(void **state)
{
    program_close(*state);
    free(*state);
    return 0;
}

/* Runs `clustersim run experiment ...` into folder/name; prints what it said
 * if that fails.  more: further arguments, ends with NULL; may be NULL. */
static inline int program_experiment(const struct program *program,
                                     const char *experiment, const char *name,
                                     const char *const *more)
{
    char out[128], log[128];
    const char *argv[PROGRAM_ARGS_MAX] = {
        program->path, "run", experiment, "-q", "-o", out
    };
    size_t n = 6;

    snprintf(out, sizeof out, "%s/%s", program->folder, name);
    snprintf(log, sizeof log, "%s/%s.log", program->folder, name);
    while (more && *more) {
        assert(n + 1 < PROGRAM_ARGS_MAX);
        argv[n++] = *more++;
    }
    int status = program_spawn(argv, log);
    char *said = status ? program_read(log) : NULL;
    if (said)
        fputs(said, stderr);
    free(said);
    return status;
}

/* A file of the results folder `name`. */
static inline char *program_result(const struct program *program,
                                   const char *name, const char *file)
{
    char path[192];

    snprintf(path, sizeof path, "%s/%s/%s", program->folder, name, file);
    return program_read(path);
}

/* Field number i of the line, without quotes in it; "" past the last. */
static inline void csv_field(const char *line, size_t i, char *out,
                             size_t out_bytes)
{
    while (i > 0 && *line && *line != '\n')
        i -= *line++ == ',';
    size_t n = i > 0 ? 0 : strcspn(line, ",\n");
    assert(n < out_bytes);
    memcpy(out, line, n);
    out[n] = '\0';
}

static inline size_t csv_column(const char *text, const char *name)
{
    char field[64];

    for (size_t i = 0; i < 100; i++) {
        csv_field(text, i, field, sizeof field);
        if (strcmp(field, name) == 0)
            return i;
    }
    assert(!"the column exists");
    return 0;
}

/* The cell of `column` in the first row whose second column is `policy` and,
 * if key is given, whose third is key. */
static inline bool csv_cell(const char *text, const char *policy,
                            const char *key, const char *column, char *out,
                            size_t out_bytes)
{
    size_t wanted = csv_column(text, column);
    char field[64];

    for (const char *line = strchr(text, '\n'); line && line[1];
         line = strchr(line + 1, '\n')) {
        csv_field(line + 1, 1, field, sizeof field);
        if (strcmp(field, policy) != 0)
            continue;
        csv_field(line + 1, 2, field, sizeof field);
        if (key && strcmp(field, key) != 0)
            continue;
        csv_field(line + 1, wanted, out, out_bytes);
        return true;
    }
    return false;
}

/* The results `fast` and `slow` of a program have the same file, of more than 200 bytes. */
static inline void program_same(const struct program *program, const char *file)
{
    char *fast = program_result(program, "fast", file);
    char *slow = program_result(program, "slow", file);

    assert_non_null(fast);
    assert_non_null(slow);
    assert_true(strlen(fast) > 200);
    if (strcmp(fast, slow) != 0)
        fail_msg("%s differs", file);
    free(fast);
    free(slow);
}

#endif
