/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise_table_test.c - the tables of `advise` by the arithmetic of a reader: costs from times and
 * prices, times from rates, the front from all rows, totals from their parts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/program.h"

#define ROWS_MOST 1000u

static struct program program;

/* A row of the table by cost or of the front. */
struct row {
    bool star;
    unsigned gpus;
    char type[24];
    double s, usd, rate;        /* rate: sequences a second */
};

/* The output of `advise WORKLOAD --job JOB --gpus 64 --top 1000`; to be freed. */
static char *advise(const char *workload, const char *job)
{
    char log[128];
    const char *const argv[] = { program.path, "advise", workload, "--job", job, "--gpus", "64",
                                 "--top", "1000", NULL };

    snprintf(log, sizeof log, "%s/log", program.folder);
    assert_int_equal(program_spawn(argv, log), 0);
    return program_read(log);
}

/* Reads "13.9h" or "98.7min" as seconds. */
static double seconds_of(const char *text)
{
    char *unit;
    double value = strtod(text, &unit);

    return strcmp(unit, "s") == 0 ? value : strcmp(unit, "min") == 0 ? 60 * value
         : strcmp(unit, "h") == 0 ? 3600 * value : strcmp(unit, "d") == 0 ? 86400 * value : NAN;
}

/* Reads a row of one role: rank, star, GPUs, layout, time, USD, rate, five shares and MFU. */
static void read_row(const char *line, unsigned rank, struct row *row)
{
    char copy[300], *word[40], *save = NULL;
    unsigned words = 0, at;

    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    for (char *w = strtok_r(copy, " ", &save); w != NULL && words < 40;
         w = strtok_r(NULL, " ", &save))
        word[words++] = w;
    assert_int_equal(atoi(word[0]), rank);
    row->star = strcmp(word[1], "*") == 0;
    at = 1 + row->star;
    row->gpus = (unsigned)atoi(word[at]);
    assert_string_equal(word[at + 1], "x");
    snprintf(row->type, sizeof row->type, "%s", word[at + 2]);
    assert_true(words >= at + 3 + 10);
    row->s = seconds_of(word[words - 10]);
    row->usd = strcmp(word[words - 9], "-") == 0 ? NAN : atof(word[words - 9]);
    row->rate = atof(word[words - 8]);
    for (unsigned w = words - 7; w < words - 1; w++)        /* percent: MFU, GPUs, CPUs ... */
        assert_true(atof(word[w]) >= 0 && atof(word[w]) <= 100);
    assert_true(atof(word[words - 7]) > 1 && atof(word[words - 7]) <= atof(word[words - 6]) + 1);
}

/* Reads the rows behind the first line that begins with `head` and its titles; returns their
 * number. */
static unsigned read_rows(const char *text, const char *head, struct row *row)
{
    const char *at = strstr(text, head);
    unsigned count = 0;

    assert_non_null(at);
    at = strchr(strchr(at + 1, '\n') + 1, '\n') + 1;
    for (; *at == ' '; at = strchr(at, '\n') + 1) {
        assert_true(count < ROWS_MOST);
        read_row(at, count + 1, &row[count]);
        count++;
    }
    return count;
}

static double price_of(const struct law_aids *aids, const char *type)
{
    const struct price *price = catalogue_price_in(aids->catalogue, type, TIER_LIST);

    return price == NULL ? NAN : price->usd_per_h;
}

/* Each time is the work over the rate, each cost the time of all GPUs at the list price; times are
 * printed to a tenth of their unit, rates to four digits and costs to a cent. */
static void check_costs(const struct law_aids *aids, const struct row *row, unsigned count,
                        double sequences)
{
    for (unsigned i = 0; i < count; i++) {
        double s = sequences / row[i].rate, usd = row[i].gpus * price_of(aids, row[i].type) *
                                                  s / 3600;
        if (fabs(row[i].s / s - 1) > 0.05 || isnan(row[i].usd) != isnan(usd) ||
            fabs(row[i].usd - usd) > 1e-3 * usd + 0.0051)
            fail_msg("row %u: %g s and %g USD, expected %g and %g", i + 1, row[i].s, row[i].usd,
                     s, usd);
    }
}

/* Is b cheaper and faster, by more than rounding? */
static bool beats(const struct row *b, const struct row *a, double by)
{
    return b->usd * (1 + by) < a->usd && b->rate > a->rate * (1 + by);
}

/* Costs rise; a row has a star where none is both cheaper and faster. */
static void check_stars(const struct row *row, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bool beaten = false, nearly = isnan(row[i].usd);

        assert_true(i == 0 || isnan(row[i].usd) || row[i].usd >= row[i - 1].usd);
        for (unsigned j = 0; j < count; j++) {
            beaten = beaten || beats(&row[j], &row[i], 1e-3);
            nearly = nearly || (j != i && beats(&row[j], &row[i], -1e-3));
        }
        if ((row[i].star && beaten) || (!row[i].star && !nearly))
            fail_msg("row %u %s a star", i + 1, row[i].star ? "has" : "has not");
    }
}

/* The front has the rows with a star, the fastest first. */
static void check_front(const struct row *row, unsigned count, const struct row *front,
                        unsigned fronts)
{
    unsigned stars = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned found = 0;
        stars += row[i].star;
        for (unsigned j = 0; j < fronts; j++)
            found += front[j].gpus == row[i].gpus && strcmp(front[j].type, row[i].type) == 0 &&
                     front[j].rate == row[i].rate && front[j].usd == row[i].usd;
        assert_true(!row[i].star || found > 0);
    }
    assert_int_equal(fronts, stars);
    for (unsigned j = 1; j < fronts; j++)
        assert_true(front[j].rate <= front[j - 1].rate && front[j].usd <= front[j - 1].usd);
}

/* Weights, gradients, optimizer, activations, gathered, KV and workspace make the total, which
 * is the last number but one in percent of what the GPU has. */
static void check_memory(const struct law_aids *aids, const char *text, unsigned count)
{
    const char *at = strstr(text, "\nper GPU:");

    assert_non_null(at);
    at = strchr(strchr(at + 1, '\n') + 1, '\n') + 1;
    for (unsigned i = 0; i < count; i++, at = strchr(at, '\n') + 1) {
        double part[7], total, has, percent, host, mbps;
        unsigned rank, gpus, cores, workers;
        char type[24];
        assert_int_equal(sscanf(at, "%u %u x %23s %u %u %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf "
                                "%lf %lf", &rank, &gpus, type, &cores, &workers, &host, &mbps,
                                &part[0], &part[1], &part[2], &part[3], &part[4], &part[5],
                                &part[6], &total, &has, &percent), 17);
        assert_int_equal(rank, i + 1);
        double sum = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6];
        double memory = catalogue_gpu(aids->catalogue, type)->memory_bytes / 1e9;
        if (fabs(sum - total) > 0.41 || fabs(has - memory) > 0.051 || total > has ||
            fabs(percent - 100 * total / has) > 0.9)
            fail_msg("memory of row %u: %g of %g", i + 1, total, has);
    }
}

/* The price of each row in each tier: the same time. */
static void check_tiers(const struct law_aids *aids, const char *text, const struct row *row,
                        unsigned count, double sequences)
{
    static const enum price_tier tier[] = { TIER_LIST, TIER_MARKETPLACE, TIER_RESERVED, TIER_SPOT,
                                            TIER_ASSUMPTION };
    const char *at = strstr(text, "\nUSD of these rows by tier");

    assert_non_null(at);
    at = strchr(strchr(at + 1, '\n') + 1, '\n') + 1;
    for (unsigned i = 0; i < count; i++, at = strchr(at, '\n') + 1) {
        char said[5][24], type[24];
        unsigned rank, gpus;
        assert_int_equal(sscanf(at, "%u %u x %23s %23s %23s %23s %23s %23s", &rank, &gpus, type,
                                said[0], said[1], said[2], said[3], said[4]), 8);
        for (int t = 0; t < 5; t++) {
            const struct price *price = catalogue_price_in(aids->catalogue, type, tier[t]);
            double usd = price == NULL ? NAN
                : row[i].gpus * price->usd_per_h * sequences / row[i].rate / 3600;
            if ((price == NULL) != (strcmp(said[t], "-") == 0) ||
                (price != NULL && fabs(atof(said[t] + strspn(said[t], "~")) - usd) >
                                      1e-3 * usd + 0.0051) ||
                (price != NULL && price_is_assumption(price) != (said[t][0] == '~')))
                fail_msg("row %u, tier %d: %s, expected %g", i + 1, t, said[t], usd);
        }
    }
}

/* "needs 1210.4 GB of 16.1: N bytes (C GB) are missing", and changes that fit. */
static void check_missing(const char *text)
{
    double need, has, bytes, missing, fits;
    unsigned seen = 0, offered = 0, never = 0;

    for (const char *at = text; (at = strstr(at, ": needs ")) != NULL; at++) {
        assert_int_equal(sscanf(at, ": needs %lf GB of %lf: %lf bytes (%lf GB)", &need, &has,
                                &bytes, &missing), 4);
        assert_true(fabs(need - has - missing) < 0.16 && fabs(bytes / 1e9 - missing) < 0.051);
        for (const char *line = strchr(at, '\n') + 1; strncmp(line, "    fits with ", 14) == 0;
             line = strchr(line, '\n') + 1) {
            const char *gb = strstr(line, " GB, time ");
            while (gb[-1] != ' ')
                gb--;
            fits = atof(gb);
            assert_true(fits <= has + 0.051 && fits > 0.1);
            offered++;
        }
        seen++;
    }
    for (const char *at = text; (at = strstr(at, ") needs ")) != NULL; at++) {
        assert_int_equal(sscanf(at, ") needs %lf GB of %lf: %lf bytes", &need, &has, &bytes), 3);
        assert_true(fabs(need - has - bytes / 1e9) < 0.11);     /* the smallest layout of all */
        never++;
    }
    assert_true(seen > 5 && offered > 5 && never > 1);
}

static void check_advice(const char *workload, const char *job, double sequences, bool misses)
{
    static struct row row[ROWS_MOST], front[ROWS_MOST];
    struct law_aids aids = law_aids_new();
    char *text = advise(workload, job);
    unsigned long long tried, fit;
    unsigned count = read_rows(text, "\nby cost", row);
    unsigned fronts = read_rows(text, "\nPareto front", front);

    assert_int_equal(sscanf(strstr(text, "up to 64 GPUs: "), "up to 64 GPUs: %llu layouts tried, "
                            "%llu fit", &tried, &fit), 2);
    assert_true(tried > fit && fit >= count && count > 20);
    check_costs(&aids, row, count, sequences);
    check_stars(row, count);
    check_front(row, count, front, fronts);
    check_tiers(&aids, text, row, count, sequences);
    check_memory(&aids, text, count);
    if (misses)
        check_missing(text);
    free(text);
    law_aids_free(&aids);
}

/* 250 steps of 1024 sequences. */
static void figures_of_a_pretraining_add_up(void **state)
{
    (void)state;
    check_advice("experiments/advise/train_70b.yaml", "train-70b", 250.0 * 1024, true);
}

/* 500 steps of 16 sequences, which also fit the smallest GPUs. */
static void figures_of_a_lora_add_up(void **state)
{
    (void)state;
    check_advice("experiments/advise/d8_7b.yaml", "lora-7b", 500.0 * 16, false);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_pretraining_add_up),
        cmocka_unit_test(figures_of_a_lora_add_up),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
