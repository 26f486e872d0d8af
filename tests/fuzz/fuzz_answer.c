/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_answer.c - any bytes as a line that a policy in a program of its own sends: to
 * `hello`, and to a message of a trial.
 *
 * What is refused has a message and a column of the line, what is accepted holds nothing
 * but what the protocol knows.  One answer's memory serves the next, as in a trial.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/exec/answer.h"
#include "experiments/exec/guest.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

/* The line as it is received: with a zero byte behind it, and without its end. */
static char *copy_line(const uint8_t *data, size_t bytes)
{
    char *line = malloc(bytes + 1);

    require(line != NULL);
    memcpy(line, data, bytes);
    line[bytes] = '\0';
    return line;
}

static void require_refused(const struct err *err, size_t bytes)
{
    require(err->kind != ERR_NONE && err->text[0] != '\0');
    require(err->pos.col <= bytes + 2);
}

static void read_hello(struct json *json, const uint8_t *data, size_t bytes)
{
    char *line = copy_line(data, bytes);
    struct err err = { .kind = ERR_NONE };
    static struct exec_self self;

    if (!answer_read_self(json, line, bytes, &self, &err)) {
        require_refused(&err, bytes);
    } else {
        require(self.name[0] != '\0' && memchr(self.name, '\0', sizeof self.name) != NULL);
        require(memchr(self.summary, '\0', sizeof self.summary) != NULL);
        require(self.key_count <= EXEC_KEYS_MAX && self.param_count <= EXEC_PARAMS_MAX);
    }
    free(line);
}

static void read_answer(struct json *json, const uint8_t *data, size_t bytes,
                        struct exec_answer *answer)
{
    char *line = copy_line(data, bytes);
    struct err err = { .kind = ERR_NONE };

    if (!answer_read(json, line, bytes, 1, answer, &err))
        require_refused(&err, bytes);
    else
        for (uint32_t i = 0; i < answer->count; i++)
            require(answer->request[i].verb < EXEC_VERB_COUNT);
    require(answer->count <= answer->room);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct arena *arena = arena_new(0);
    struct json *json = json_new(arena);
    struct exec_answer answer = { 0 };
    const uint8_t *end = memchr(data, '\n', bytes);
    size_t first = end == NULL ? bytes : (size_t)(end - data);

    read_hello(json, data, first);
    read_answer(json, data, first, &answer);
    if (end != NULL)
        read_answer(json, end + 1, bytes - first - 1, &answer);
    free(answer.request);
    arena_free(arena);
    return 0;
}
