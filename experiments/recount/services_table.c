/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * services_table.c - rows of services.csv, against what replicas were charged.
 */
#include "experiments/recount/tables.h"

#include <math.h>

#include "experiments/recount/books.h"
#include "experiments/recount/cells.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/recount.h"
#include "experiments/spec/trial_spec.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

/* Columns of services.csv by place.  Each of the three times has four: mean, median, 95%
 * and 99%. */
enum { SERVICE_REQUESTS = KEYS + 1, SERVICE_DONE, SERVICE_DROPPED, SERVICE_REFUSED,
       SERVICE_UNFINISHED, SERVICE_REROUTED, SERVICE_RECOMPUTED, SERVICE_TTFT,
       SERVICE_TPOT = SERVICE_TTFT + 4, SERVICE_LATENCY = SERVICE_TPOT + 4,
       SERVICE_SLO = SERVICE_LATENCY + 4, SERVICE_GOODPUT, SERVICE_TOKENS, SERVICE_GPU_MOST,
       SERVICE_GPU_STARTS, SERVICE_GPU_H, SERVICE_GPU_BUSY, SERVICE_CPU_MOST,
       SERVICE_CPU_STARTS, SERVICE_CPU_H, SERVICE_CPU_BUSY, SERVICE_HELD_GPU_H,
       SERVICE_HELD_CORE_H, SERVICE_USD, SERVICE_MILLION, SERVICE_KWH, SERVICE_KNOWN,
       SERVICE_CELLS };

/* Sums over services, and the extremes of what cannot be added: the greatest 99% quantile of
 * latencies in seconds, the least and the greatest share of requests in time. */
struct service_sum {
    double requests, done, usd, kwh, gpu_h, core_h, slowest, slo_least, slo_most;
};

/* Returns whether mean, median, 95% and 99% in four cells are times that can be
 * true: none is negative, and quantiles rise.  All are empty, or none. */
static bool in_order(const struct cells *cells, unsigned first)
{
    double mean = cells_number(cells, first), p50 = cells_number(cells, first + 1);
    double p95 = cells_number(cells, first + 2), p99 = cells_number(cells, first + 3);

    if (isnan(mean))
        return isnan(p50) && isnan(p95) && isnan(p99);
    return mean >= 0 && p50 >= 0 && p50 <= p95 && p95 <= p99;
}

/* Returns whether a number is from 0 to 1.  NAN is an empty cell, and allowed. */
static bool is_fraction(double value)
{
    return isnan(value) || (value >= 0 && value <= 1);
}

/* Returns the tokens of an answer, as they follow from three columns: tokens
 * and answers in time, both per second, and the share of answers in time. */
static double tokens_each(const struct cells *cells)
{
    double kept = cells_number(cells, SERVICE_GOODPUT), slo = cells_number(cells, SERVICE_SLO);

    return kept > 0 ? cells_number(cells, SERVICE_TOKENS) / kept * slo : NAN;
}

/* Checks one row against itself, and adds it to the sums.  Single requests are not heard
 * here, so of their times only what must hold of any is checked: quantiles rise, and the
 * first token is not later than the last. */
static void add_service(const struct cells *cells, struct service_sum *sum,
                        struct judge *judge)
{
    double done = cells_number(cells, SERVICE_DONE), usd = cells_number(cells, SERVICE_USD);
    double slo = cells_number(cells, SERVICE_SLO);

    cells_judge(cells, SERVICE_REQUESTS, "requests of services.csv",
                done + cells_number(cells, SERVICE_DROPPED) +
                    cells_number(cells, SERVICE_REFUSED) +
                    cells_number(cells, SERVICE_UNFINISHED), judge);
    cells_judge(cells, SERVICE_MILLION, "cost_per_million_usd of services.csv",
                done > 0 ? usd / done * 1e6 : NAN, judge);
    judge_holds(judge, "times of services.csv",
                in_order(cells, SERVICE_TTFT) && in_order(cells, SERVICE_TPOT) &&
                    in_order(cells, SERVICE_LATENCY), "their quantiles do not rise");
    judge_holds(judge, "fractions of services.csv", is_fraction(slo) &&
                is_fraction(cells_number(cells, SERVICE_GPU_BUSY)) &&
                is_fraction(cells_number(cells, SERVICE_CPU_BUSY)) &&
                is_fraction(cells_number(cells, SERVICE_KNOWN)),
                "one is below 0 or above 1");
    judge_holds(judge, "ttft of services.csv", !(cells_number(cells, SERVICE_TTFT) >
                cells_number(cells, SERVICE_LATENCY)), "it is longer than the whole answer");
    judge_holds(judge, "tokens_per_s of services.csv", isnan(tokens_each(cells)) ||
                (tokens_each(cells) >= 0 && tokens_each(cells) < 1e7),
                "an answer has ten millions");
    sum->requests += cells_number(cells, SERVICE_REQUESTS);
    sum->done += done;
    sum->usd += usd;
    sum->kwh += cells_number(cells, SERVICE_KWH);
    sum->gpu_h += cells_number(cells, SERVICE_HELD_GPU_H);
    sum->core_h += cells_number(cells, SERVICE_HELD_CORE_H);
    sum->slowest = fmax(sum->slowest, cells_number(cells, SERVICE_LATENCY + 3));
    sum->slo_least = fmin(sum->slo_least, slo);
    sum->slo_most = fmax(sum->slo_most, slo);
}

/* Compares the sums with what replicas were charged as jobs, and with the metrics of the
 * trial. */
static void judge_service_metrics(const struct recount_books *books,
                                  const struct service_sum *sum, struct judge *judge)
{
    const struct recount_told *told = &books->told;
    const double *value = judge->value;

    judge_figure(judge, "cost_usd of services.csv", sum->usd, told->service.usd,
                 DIGITS * sum->usd);
    judge_figure(judge, "energy_kwh of services.csv", sum->kwh,
                 told->service.joules / 3.6e6, DIGITS * sum->kwh);
    judge_figure(judge, "gpu_hours of services.csv", sum->gpu_h, told->service.gpu_s / 3600,
                 DIGITS * sum->gpu_h);
    judge_figure(judge, "core_hours of services.csv", sum->core_h,
                 told->service.core_s / 3600, DIGITS * sum->core_h);
    judge_metric(judge, METRIC_SERVICE_MILLION,
                 sum->done > 0 ? told->service.usd / sum->done * 1e6 : NAN, 0);
    judge_metric(judge, METRIC_SERVICE_LATENCY, sum->slowest,
                 isnan(sum->slowest) ? 0 : DIGITS * sum->slowest);
    judge_holds(judge, "slo_attained_fraction", isnan(sum->slo_least) ||
                (value[METRIC_SLO] >= sum->slo_least * (1 - 1e-8) &&
                 value[METRIC_SLO] <= sum->slo_most * (1 + 1e-8)),
                "it is not between those of services.csv");
    /* Where no request came after the warm-up, it counts deadlines of jobs. */
    judge_holds(judge, "slo_count", value[METRIC_REQUESTS] == 0 ||
                value[METRIC_SLO_COUNT] <= value[METRIC_REQUESTS],
                "there are more than requests");
    judge_holds(judge, "requests_done", value[METRIC_REQUESTS_DONE] <= value[METRIC_REQUESTS] &&
                value[METRIC_REQUESTS_DONE] <= sum->done, "there are more than requests");
}

/* Compares how many requests came and were done.  After a warm-up, metrics are
 * of some of them only. */
static void judge_requests(const struct recount_parts *parts, const struct service_sum *sum,
                           struct judge *judge)
{
    if (parts->spec->warmup_ns > 0)
        return;
    judge_metric(judge, METRIC_REQUESTS, sum->requests, 0);
    judge_metric(judge, METRIC_REQUESTS_DONE, sum->done, 0);
}

/* A table without rows, or with a row that cannot be read, is not judged. */
void tables_judge_services(const struct recount_books *books,
                           const struct recount_parts *parts, struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(parts->services, &bytes), *end = at + bytes;
    struct service_sum sum = { .slowest = NAN, .slo_least = NAN, .slo_most = NAN };
    struct cells cells;
    unsigned services = 0;

    for (; cells_read(&at, end, &cells) && cells.count == SERVICE_CELLS; services++)
        add_service(&cells, &sum, judge);
    if (services == 0 || at != end)
        return;
    judge_service_metrics(books, &sum, judge);
    judge_requests(parts, &sum, judge);
}
