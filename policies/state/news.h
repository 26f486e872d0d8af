/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news.h - what is told as it happens: facts to the journal, news to the policy.
 */
#ifndef POLICIES_STATE_NEWS_H
#define POLICIES_STATE_NEWS_H

#include <assert.h>
#include <stdint.h>

#include "models/types/facts.h"
#include "policies/state/state.h"
#include "sim/event/journal.h"

/* Tells the journal a fact of now.  Those of a node have no object. */
static inline void host_tell(struct cs_host *host, enum fact_kind kind,
                             uint32_t subject, uint32_t object, double amount)
{
    assert(kind < FACT_NODE_DOWN || kind > FACT_RENT_TAKEN || object == 0);
    struct fact fact = {
        .time_ns = host_now(host), .kind = kind, .subject = subject,
        .object = object, .amount = amount,
    };
    journal_tell(host->parts.journal, &fact);
}
/* Keeps news for the next decision.  kind: of decision.h; id: a job, or a lease
 * that became idle. */
void host_news_add(struct cs_host *host, int kind, uint32_t id);

#endif
