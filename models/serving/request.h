/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request.h - one request to a service, and where requests come from.
 */
#ifndef MODELS_SERVING_REQUEST_H
#define MODELS_SERVING_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "models/serving/prefix_cache.h"

struct request {
    int64_t arrive_ns;
    uint32_t prompt_tokens;     /* at least 1 */
    uint32_t output_tokens;     /* the truth; 0: nothing is generated */
    uint32_t known_tokens;      /* of the prompt, the first: computed for
                                   another request; less than the prompt */
    struct prefix prefix;       /* how the prompt begins, valid until the next
                                   request; count 0: like no other */
};

/* In ascending arrive_ns; false: there are no more. */
typedef bool request_next_fn(void *self, struct request *out);

#endif
