/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * skeleton.c - a policy's source with gaps for its name.
 */
#include "experiments/plugins/skeleton.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"

/* @ stands for the name, $ for the same as a part of a name of C: alone it may be a word of
 * the language (`for`), or a struct of the headers (`cs-policy`). */
static const char text[] =
    "/*\n"
    " * @.c - the task that asks for the most GPUs goes first.\n"
    " *\n"
    " * Use it by its path: policies: [fcfs, ./@.c]\n"
    " */\n"
    "#include \"policies/params.h\"\n"
    "#include \"policies/policy.h\"\n"
    "\n"
    "/* The state of one trial.  It is zero at first, but for the parameters. */\n"
    "struct $_state {\n"
    "    double patience_h;          /* a parameter, see below */\n"
    "};\n"
    "\n"
    "/* Should a start before b?  The host starts what waits in this order.  Ties go\n"
    " * by arrival. */\n"
    "static bool before(const void *self, const struct cs_host *host,\n"
    "                   struct task_id a, struct task_id b)\n"
    "{\n"
    "    const struct $_state *me = self;\n"
    "    const struct cs_task *left = cs_task(host, a), *right = cs_task(host, b);\n"
    "    double waited_h = 1e-9 / 3600 * (double)(cs_now_ns(host) - left->submit_ns);\n"
    "\n"
    "    if (waited_h > me->patience_h && left->submit_ns < right->submit_ns)\n"
    "        return true;            /* nobody waits for ever */\n"
    "    if (left->submit_ns > right->submit_ns &&\n"
    "        1e-9 / 3600 * (double)(cs_now_ns(host) - right->submit_ns) > "
    "me->patience_h)\n"
    "        return false;\n"
    "    return left->gpus > right->gpus;\n"
    "}\n"
    "\n"
    "/* Keys of an entry: {policy: ./@.c, patience_h: 4}.  The last text is what\n"
    " * `clustersim explain` shows. */\n"
    "static const struct cs_param param[] = {\n"
    "    { \"patience_h\", CS_PARAM_REAL, offsetof(struct $_state, patience_h), 0, 1e6,\n"
    "      \"24\", \"hours after which the oldest task goes first\" },\n"
    "};\n"
    "\n"
    "/* The program finds this table by the end of its name. */\n"
    "extern const struct cs_policy $_policy;\n"
    "const struct cs_policy $_policy = {\n"
    "    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),\n"
    "    .name = \"@\", .summary = \"the task that asks for the most GPUs first\",\n"
    "    .flags = CS_ORDER_MOVES,    /* before() depends on the time */\n"
    "    .param = param, .param_count = 1, .self_bytes = sizeof(struct $_state),\n"
    "    .before = before,\n"
    "};\n";

const char *skeleton_text(struct arena *arena, const char *name)
{
    char *out = arena_alloc(arena, sizeof text + 20 * strlen(name), 1), *end = out;

    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '@' && *c != '$') {
            *end++ = *c;
            continue;
        }
        for (const char *n = name; *n != '\0'; n++)
            *end++ = *c == '$' && *n == '-' ? '_' : *n;
    }
    assert((size_t)(end - out) < sizeof text + 20 * strlen(name));
    return out;
}
