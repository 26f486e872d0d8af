/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_policy.c - from the policy's own table, and the keys that the registry knows.
 */
#include "experiments/words/explain_policy.h"

#include <string.h>

#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "sim/config/conf.h"

/* What a value of the type is, for people; in the order of enum cs_param_type. */
static const char *param_type_name(enum cs_param_type type)
{
    static const char *const name[] = { "whole number", "number", "fraction",
                                        "time", "true or false", "text",
                                        "one of" };

    return (unsigned)type < 7 ? name[type] : "value";
}

/* " head, none" */
static void print_words(FILE *out, const struct cs_policy *policy,
                        const struct cs_param *p)
{
    for (uint32_t i = 0; i < policy->words_count; i++) {
        const char *word = policy->words[i].words;

        if (p->type != CS_PARAM_CHOICE ||
            strcmp(policy->words[i].key, p->key) != 0)
            continue;
        for (size_t bytes; *word != '\0'; word += bytes) {
            bytes = strcspn(word, " ");
            fprintf(out, " %.*s%s", (int)bytes, word,
                    word[bytes] == ' ' ? "," : "");
            bytes += word[bytes] == ' ';
        }
    }
}

void explain_param(FILE *out, const struct cs_policy *policy,
                        const struct cs_param *p)
{
    const char *needs = policy_key_needs(policy, p->key);

    fprintf(out, "  %-16s %s", p->key, param_type_name(p->type));
    print_words(out, policy, p);
    if (p->min != 0 || p->max != 0)
        fprintf(out, ", from %g to %g", p->min, p->max);
    if (p->fallback != NULL && p->fallback[0] != '\0')
        fprintf(out, ", default %s", p->fallback);
    if (p->fallback == NULL)
        fputs(", required", out);
    fprintf(out, "\n  %-16s %s\n", "", p->help);
    if (needs != NULL)
        fprintf(out, "  %-16s needs %s\n", "", needs);
}

/* The keys of the host that act on the policy. */
static void print_semantics(FILE *out, const struct cs_policy *p)
{
    unsigned n = 0;

    fputs("  semantics that act: ", out);
    for (size_t i = 0; i < host_rules_schema.count; i++) {
        const char *key = host_rules_schema.fields[i].key;

        if (strcmp(key, "policy") != 0 && strcmp(key, "name") != 0 &&
            policy_accepts_key(p, key))
            fprintf(out, "%s%s", n++ == 0 ? "" : ", ", key);
    }
    fputc('\n', out);
}

/* Where it starts a role: by types, homes and sizes. */
static void print_places(uint32_t flags, FILE *out)
{
    fputs(flags & CS_FORECASTS
              ? "  forecasts: of the GPU types of a role it takes the one where "
                "a phase is\n  soonest over; of equals the cheaper one, then by "
                "the GPU's name, then by\n  node\n"
              : "  does not forecast: of the GPU types of a role it takes the "
                "first of `types:`\n  that has room; without `types:`, the "
                "first of `nodes:`\n", out);
    if (flags & CS_HOMES)
        fprintf(out, "  each role has a home: `home:`, else `pool:`, else the "
                "pool that bears its name%s\n",
                flags & CS_CONFINES ? "; it starts nowhere else" : "");
    if (flags & CS_ASKS_PRIORITY)
        fputs("  jobs of larger `priority` go first\n", out);
    if (flags & (CS_GROWS | CS_RESIZES))
        fputs("  may use up to `max` GPUs of a role\n", out);
}

void explain_policy(FILE *out, const struct cs_policy *p)
{
    fprintf(out, "%s: policy\n  %s\n  leases for %s%s%s\n",
            p->name, p->summary == NULL ? "" : p->summary,
            p->flags & CS_PER_PHASE ? "a phase" : "a job's life",
            p->flags & CS_PREEMPTS ? "; preempts" : "",
            p->flags & CS_CLAIRVOYANT ? "; knows true run times" : "");
    print_places(p->flags, out);
    for (uint32_t k = 0; k < p->param_count; k++)
        explain_param(out, p, &p->param[k]);
    print_semantics(out, p);
}
