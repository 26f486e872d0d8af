/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flight_queue.h - requests that wait, in the order in which they came.  For the files of this
 * room only.
 */
#ifndef MODELS_SERVING_FLIGHT_QUEUE_H
#define MODELS_SERVING_FLIGHT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* A request in a queue or a batch; 48 bytes. */
struct flight {
    int64_t arrive_ns;
    uint32_t prompt_tokens, output_tokens;  /* to compute; to generate */
    uint32_t made_tokens;       /* generated so far */
    uint32_t known_tokens;      /* of the prompt, found in the prefix cache; of all its tokens, in
                                   blocks that nobody took while it was thrown out */
    uint32_t held;              /* blocks of the KV cache that it has, or had; 0: none are left */
    int64_t ttft_ns;            /* valid if made_tokens > 0 */
    uint64_t freed_at;          /* blocks that the replica had freed before those */
};

/* A ring of `room` slots, a power of two. */
struct flight_queue {
    struct flight *slot;
    uint32_t head, count, room; /* head: slot of the first; count: requests */
    uint32_t late;              /* the last ones, in order of arrival, of which the first is
                                   older than what stands before it; see flight_settle() */
    uint32_t stay;              /* of what stands before those: at work, so that none passes */
};

/* Puts it behind those that came no later, and behind the first `stay`, which are at work.
 * True: none stands before it. */
bool flight_insert(struct flight_queue *queue, uint32_t stay, const struct flight *flight);
/* Puts requests that were sent on where they belong by their arrival.  Must be called before
 * slots are looked at; flight_pop() and the like do.  O(1), or O(count) if there are any. */
void flight_settle(struct flight_queue *queue);
void flight_push_front(struct flight_queue *queue,
                       const struct flight *flight);
struct flight flight_pop(struct flight_queue *queue);
struct flight flight_pop_last(struct flight_queue *queue);
void flight_free(struct flight_queue *queue);

#endif
