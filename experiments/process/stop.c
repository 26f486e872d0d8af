/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop.c - the mask of the thread, and what is pending.
 */
#include "experiments/process/stop.h"

#include <pthread.h>
#include <stddef.h>

static const int stop_signal[] = { SIGINT, SIGTERM, SIGHUP };
#define STOP_SIGNALS (sizeof stop_signal / sizeof stop_signal[0])

/* An ignored signal that is held back would wait as if it were heard. */
void stop_hold(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        struct sigaction action;

        if (sigaction(stop_signal[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&held, stop_signal[i]);
    }
    pthread_sigmask(SIG_BLOCK, &held, before);
}

bool stop_waits(void)
{
    sigset_t pending;

    if (sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        if (sigismember(&pending, stop_signal[i]) == 1)
            return true;
    return false;
}

void stop_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}
