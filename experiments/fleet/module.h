/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * module.h - what clustersim_mpi.so offers.  Private to experiments/fleet.
 *
 * The program opens it only where it runs as one of several ranks: so it needs no MPI
 * otherwise.
 */
#ifndef EXPERIMENTS_FLEET_MODULE_H
#define EXPERIMENTS_FLEET_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#define FLEET_MODULE_ABI 1u
#define FLEET_NOBODY UINT32_MAX

/* What rank 0 hands out: trials from first to last, none if first > last. */
struct fleet_part {
    uint32_t first, last;       /* indices into what is due */
};

/* One thread at a time calls these. */
struct fleet_module {
    uint32_t abi;               /* FLEET_MODULE_ABI of the header that it was built with */
    /* Joins the other ranks. */
    bool (*open)(uint32_t *rank, uint32_t *count);
    /* For rank 0: returns a rank that has asked, and stores whether it has left; FLEET_NOBODY:
     * none has asked by now. */
    uint32_t (*asked)(bool *left);
    void (*answer)(uint32_t rank, struct fleet_part part);
    /* For the other ranks: ask() waits for the answer; leave() says that the rank is gone. */
    struct fleet_part (*ask)(void);
    void (*leave)(void);
    void (*close)(void);
};

/* The one symbol of the module. */
#define FLEET_MODULE_SYMBOL "clustersim_fleet"

#endif
