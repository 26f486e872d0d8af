/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stand.c - programs that are lent to trials.
 *
 * Invariant: while the gate is free, the lists hold all ends of programs that this
 * process has.  So a process that was forked at the gate can close those that are not
 * for it, and a program sees the end of its stdin as soon as this process closes it.
 */
#include "experiments/exec/stand.h"

#include <assert.h>
#include <stdlib.h>

#include "experiments/exec/exec.h"
#include "experiments/exec/guest.h"
#include "experiments/process/talk.h"
#include "policies/policy.h"
#include "sim/base/arena.h"

/* The program of one policy that is lent to trials of one thread. */
struct exec_stand {
    struct exec_stand *next;    /* of the same thread */
    struct exec_guest *guest;
    struct talk *talk;          /* NULL: it ended */
    bool served;                /* a trial before */
};

/* All of them, of all threads. */
struct exec_stands {
    pthread_mutex_t gate;       /* held while a process is forked, and while lists or ends
                                 * change */
    uint32_t threads;           /* entries of `first` */
    struct exec_stand **first;  /* by thread */
};

struct exec_stands *exec_stands_new(uint32_t threads)
{
    struct exec_stands *stands = arena_resize_own(NULL, 1, sizeof *stands);

    stands->threads = threads;
    stands->first = arena_resize_own(NULL, threads + 1, sizeof(struct exec_stand *));
    for (uint32_t i = 0; i < threads; i++)
        stands->first[i] = NULL;
    pthread_mutex_init(&stands->gate, NULL);
    return stands;
}

void exec_stands_free(struct exec_stands *stands)
{
    if (stands == NULL)
        return;
    for (uint32_t i = 0; i < stands->threads; i++)
        assert(stands->first[i] == NULL);
    pthread_mutex_destroy(&stands->gate);
    free(stands->first);
    free(stands);
}

pthread_mutex_t *exec_stands_gate(struct exec_stands *stands)
{
    return &stands->gate;
}

/* The stand of a policy, made if need be.  Only the thread itself adds to its list, so that it
 * may search without the gate. */
static struct exec_stand *find_stand(struct exec_stands *stands, uint32_t thread,
                                     struct exec_guest *guest)
{
    struct exec_stand *stand = stands->first[thread];

    while (stand != NULL && stand->guest != guest)
        stand = stand->next;
    if (stand != NULL)
        return stand;
    stand = arena_resize_own(NULL, 1, sizeof *stand);
    *stand = (struct exec_stand){ .next = stands->first[thread], .guest = guest };
    pthread_mutex_lock(&stands->gate);
    stands->first[thread] = stand;
    pthread_mutex_unlock(&stands->gate);
    return stand;
}

/* Ends the program of a stand, if it has one.  Its stdin is closed under the gate: a
 * process forked meanwhile would hold it open, and the program would not see its end. */
static void end_stand(struct exec_stands *stands, struct exec_stand *stand, bool leaves)
{
    struct talk *talk = stand->talk;

    pthread_mutex_lock(&stands->gate);
    stand->talk = NULL;
    if (talk != NULL)
        talk_hang_up(talk);
    pthread_mutex_unlock(&stands->gate);
    talk_close(talk, leaves);
}

/* A program that ended by itself since its last trial is replaced. */
struct exec_stand *exec_stand_lend(struct exec_stands *stands, uint32_t thread,
                                   const struct cs_policy *policy, uint64_t memory_bytes)
{
    struct exec_guest *guest;
    struct exec_stand *stand;
    char why[160];

    assert(thread < stands->threads);
    if (!exec_is(policy))
        return NULL;
    guest = (struct exec_guest *)(void *)(uintptr_t)policy;
    if (!guest->self.reuse)
        return NULL;
    stand = find_stand(stands, thread, guest);
    if (stand->talk != NULL && talk_has_left(stand->talk))
        end_stand(stands, stand, false);
    if (stand->talk == NULL) {
        const struct talk_plan plan = { guest->word, guest->folder, guest->limit_ns,
                                        memory_bytes };

        pthread_mutex_lock(&stands->gate);
        stand->talk = talk_stand(&plan, why, sizeof why);
        pthread_mutex_unlock(&stands->gate);
        stand->served = false;
    }
    return stand->talk != NULL ? stand : NULL;
}

/* Closes the ends of all programs but its own, and tells the guest which one it has. */
void exec_stand_enter(struct exec_stands *stands, struct exec_stand *own)
{
    for (uint32_t i = 0; i < stands->threads; i++)
        for (struct exec_stand *stand = stands->first[i]; stand != NULL; stand = stand->next)
            if (stand != own && stand->talk != NULL)
                talk_drop(stand->talk);
    if (own == NULL)
        return;
    own->guest->stand = own->talk;
    own->guest->served = own->served;
}

void exec_stand_return(struct exec_stands *stands, struct exec_stand *stand, bool well)
{
    if (stand == NULL)
        return;
    stand->served = true;
    if (!well)
        end_stand(stands, stand, false);
}

void exec_stands_leave(struct exec_stands *stands, uint32_t thread)
{
    while (stands->first[thread] != NULL) {
        struct exec_stand *stand = stands->first[thread];

        end_stand(stands, stand, true);
        pthread_mutex_lock(&stands->gate);
        stands->first[thread] = stand->next;
        pthread_mutex_unlock(&stands->gate);
        free(stand);
    }
}
