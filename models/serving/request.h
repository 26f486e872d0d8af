/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request.h - one request to a service, and the function that gives the next.
 */
#ifndef MODELS_SERVING_REQUEST_H
#define MODELS_SERVING_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "models/serving/prefix_cache.h"

struct request {
    int64_t arrive_ns;
    uint32_t prompt_tokens;     /* at least 1 */
    uint32_t output_tokens;     /* ground truth; 0: nothing is generated */
    uint32_t known_tokens;      /* first tokens of the prompt that another
                                   request has computed; < prompt_tokens */
    struct prefix prefix;       /* of the prompt, valid until the next request;
                                   count 0: shared with no other */
};

/* Stores the next request in *out, in ascending arrive_ns.  False: there are no
 * more. */
typedef bool request_next_fn(void *self, struct request *out);

#endif
