/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fewest.h - the fewest replicas of one kind that keep a service's promise.
 */
#ifndef EXPERIMENTS_ADVISE_FEWEST_H
#define EXPERIMENTS_ADVISE_FEWEST_H

#include "experiments/advise/service.h"
#include "models/serving/serve.h"
#include "models/types/gang.h"

/* One kind of replica: its law, and the hardware under it. */
struct advise_replica {
    const struct advise_service *service;   /* whose requests it answers */
    struct serve_law law;       /* time of a pass or a token on it */
    enum serve_side side;       /* GPUs, or cores */
    struct gang gang;           /* of one replica */
    double host_bytes;          /* on cores: its memory; on GPUs 0 */
};

#define ADVISE_REQUESTS_LEAST 4000.0    /* of a simulation, so that p99 means
                                           much */

/* Finds the fewest replicas, up to `most`, by simulation, and fills the row's
 * numbers; the caller prices it.  If `most` replicas do not keep the promise: 0
 * replicas, and the times of a request alone. */
void advise_fewest(const struct advise_replica *replica, uint32_t most,
                   struct advise_service_row *row);

#endif
