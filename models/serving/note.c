/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * note.c - what is counted when a request ends.
 *
 * Requests that arrived in the warm-up are served and counted as done, but never measured.
 */
#include <assert.h>

#include "models/serving/state.h"
#include "sim/base/clock.h"
#include "sim/stats/tally.h"

/* Latency is from arrival to the last token; TTFT to the first, TPOT the mean
 * between tokens.  A pass without tokens has one latency for all three. */
static void measure_request(struct service *service,
                            const struct flight *flight)
{
    assert(flight->arrive_ns <= service_now(service));
    const struct service_spec *spec = service->spec;
    struct service_result *result = &service->result;
    double latency_s = clock_s_from_ns(service_now(service) -
                                       flight->arrive_ns);
    double ttft_s = flight->made_tokens > 0 ? clock_s_from_ns(flight->ttft_ns)
                                            : latency_s;
    double tpot_s = 0;

    result->answered++;
    tally_add(&result->latency, latency_s);
    quantile_add(result->latency_q, latency_s);
    if (flight->made_tokens > 0) {
        tally_add(&result->ttft, ttft_s);
        quantile_add(result->ttft_q, ttft_s);
        result->tokens += flight->made_tokens;
    }
    if (flight->made_tokens > 1) {
        tpot_s = (latency_s - ttft_s) / (flight->made_tokens - 1);
        tally_add(&result->tpot, tpot_s);
        quantile_add(result->tpot_q, tpot_s);
    }
    result->in_slo += service_keeps(latency_s, spec->latency_ns) &&
                      service_keeps(ttft_s, spec->ttft_ns) &&
                      service_keeps(tpot_s, spec->tpot_ns);
    service->last_ns = service_now(service);
}

/* May a request that is not answered now still keep all promises? */
static bool may_keep(const struct service *service, const struct flight *flight)
{
    const struct service_spec *spec = service->spec;
    double age_s = clock_s_from_ns(service_now(service) - flight->arrive_ns);
    double ttft_s = flight->made_tokens > 0 ? clock_s_from_ns(flight->ttft_ns) : age_s;
    double tpot_s = flight->made_tokens > 0 && flight->output_tokens > 1
                        ? (age_s - ttft_s) / (flight->output_tokens - 1) : 0;

    assert(age_s >= 0);
    return service_keeps(age_s, spec->latency_ns) && service_keeps(ttft_s, spec->ttft_ns) &&
           service_keeps(tpot_s, spec->tpot_ns);
}

void service_note_left(struct service *service, const struct flight *flight)
{
    assert(service->in_service > 0);
    if (flight->arrive_ns >= service->parts.warmup_ns && may_keep(service, flight))
        service->result.open++;
}

void service_note_done(struct service *service, const struct flight *flight)
{
    assert(service->in_service > 0);
    if (flight->arrive_ns >= service->parts.warmup_ns)
        measure_request(service, flight);
    service->result.done++;
    service->in_service--;
}

void service_note_dropped(struct service *service)
{
    assert(service->in_service > 0);
    service->result.dropped++;
    service->in_service--;
}

bool service_gave_up(const struct service *service,
                     const struct flight *flight)
{
    assert(flight->arrive_ns <= service_now(service));
    return service->spec->timeout_ns > 0 && flight->made_tokens == 0 &&
           service_now(service) - flight->arrive_ns >
               service->spec->timeout_ns;
}

void service_note_busy(struct replica *replica)
{
    assert(replica->counted_ns <= service_now(replica->service));
    int64_t now = service_now(replica->service);

    if (replica->does >= REPLICA_BATCH)
        replica->busy_s += clock_s_from_ns(now - replica->counted_ns);
    replica->counted_ns = now;
}

void service_note_work(struct replica *replica)
{
    const struct service_ops *ops = replica->service->parts.ops;
    bool works = replica->does >= REPLICA_BATCH;
    double up_s;

    if (works == replica->told_work || ops->busy == NULL)
        return;
    replica->told_work = works;
    up_s = clock_s_from_ns(service_now(replica->service) - replica->ready_ns);
    ops->busy(ops->self, replica->number, works ? 1 : 0,
              up_s > 0 ? replica->busy_s / up_s : 0);
}
