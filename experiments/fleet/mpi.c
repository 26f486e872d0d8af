/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mpi.c - the module of Open MPI: requests to rank 0, answers from it.
 *
 * Who waits sleeps between two looks: a rank that spins would take the core of one that
 * runs trials.
 */
#include <mpi.h>
#include <stddef.h>
#include <time.h>

#include "experiments/fleet/module.h"

enum { TAG_ASK = 1, TAG_LEAVE, TAG_ANSWER };
#define LOOK_NS 50000L

/* MPI must allow calls from several threads, one at a time: rank 0 answers in a thread of
 * its own. */
static bool mpi_open(uint32_t *rank, uint32_t *count)
{
    int have, r, n;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &have) != MPI_SUCCESS ||
        have < MPI_THREAD_SERIALIZED || MPI_Comm_rank(MPI_COMM_WORLD, &r) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &n) != MPI_SUCCESS)
        return false;
    *rank = (uint32_t)r;
    *count = (uint32_t)n;
    return true;
}

/* Looks once whether a rank asks, without waiting; *left: it leaves, and wants no answer. */
static uint32_t mpi_asked(bool *left)
{
    MPI_Status status;
    int there = 0;

    (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return FLEET_NOBODY;
    (void)MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    *left = status.MPI_TAG == TAG_LEAVE;
    return (uint32_t)status.MPI_SOURCE;
}

static void mpi_answer(uint32_t rank, struct fleet_part part)
{
    (void)MPI_Send(&part, sizeof part, MPI_BYTE, (int)rank, TAG_ANSWER, MPI_COMM_WORLD);
}

/* Asks rank 0 for trials, and waits for the answer. */
static struct fleet_part mpi_ask(void)
{
    const struct timespec wait = { 0, LOOK_NS };
    struct fleet_part part = { 1, 0 };
    int there = 0;

    (void)MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ASK, MPI_COMM_WORLD);
    for (;;) {
        (void)MPI_Iprobe(0, TAG_ANSWER, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there)
            break;
        (void)nanosleep(&wait, NULL);
    }
    (void)MPI_Recv(&part, sizeof part, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    return part;
}

static void mpi_leave(void)
{
    (void)MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_LEAVE, MPI_COMM_WORLD);
}

static void mpi_close(void)
{
    (void)MPI_Finalize();
}

extern const struct fleet_module clustersim_fleet;
const struct fleet_module clustersim_fleet = {
    FLEET_MODULE_ABI, mpi_open, mpi_asked, mpi_answer, mpi_ask, mpi_leave, mpi_close
};
