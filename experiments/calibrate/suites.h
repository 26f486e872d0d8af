/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suites.h - the laws as suites.c lists them: each predicts one kind of row, and returns
 * NULL, why it refuses the row, or calibrate_not_mine (calibrate.h).
 */
#ifndef EXPERIMENTS_CALIBRATE_SUITES_H
#define EXPERIMENTS_CALIBRATE_SUITES_H

#include "experiments/calibrate/calibrate.h"

calibrate_law calibrate_train;          /* step time */
calibrate_law calibrate_net;            /* a batch, no transformer */
calibrate_law calibrate_goodput;        /* a step of an application */
calibrate_law calibrate_train_experts;  /* the same, of mixtures of experts */
calibrate_law calibrate_tpot;           /* a decode step */
calibrate_law calibrate_tpot_served;    /* the same beside prefills */
calibrate_law calibrate_tpot_experts;   /* and of mixtures of experts */
calibrate_law calibrate_ttft;           /* a prefill */
calibrate_law calibrate_static_batch;   /* tokens per second of a batch */
calibrate_law calibrate_replay_latency, calibrate_replay_tpot;  /* under load,
                                           simulated request by request */
calibrate_law calibrate_grpo, calibrate_ppo;    /* a whole RLHF step */
calibrate_law calibrate_rl_generate, calibrate_rl_logprob, calibrate_rl_train,
    calibrate_rl_refit;                         /* a phase of one */
calibrate_law calibrate_encoder;        /* one forward pass */
calibrate_law calibrate_memory_fig1;    /* states and activations */
calibrate_law calibrate_memory_other;   /* every other row */
calibrate_law calibrate_collective;
calibrate_law calibrate_collective_large;   /* from 64 MiB */
calibrate_law calibrate_links;          /* collectives of other hosts */
calibrate_law calibrate_kernel;         /* one matrix multiplication */
calibrate_law calibrate_loader;         /* decoding images by workers */
calibrate_law calibrate_core_forward;   /* small models on a few cores */
calibrate_law calibrate_core_decode;    /* language models on cores */
calibrate_law calibrate_interruption;   /* time between two of a job */

#endif
