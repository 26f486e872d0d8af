/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offload.h - an optimizer on the host (ZeRO-Offload: Ren et al. 2021, arXiv
 * 2101.06840): gradients go to host memory as the backward pass makes them,
 * cores update FP32 weights and moments there, and new weights come back.
 *
 * The GPU keeps 16-bit weights and the gradients of two layers.  The update is
 * limited by the memory of the host, and hides behind the last backward pass.
 * A trial with cores of its own gets their part of that memory's bandwidth,
 * and no other work is counted against it.
 */
#ifndef MODELS_LAWS_OFFLOAD_H
#define MODELS_LAWS_OFFLOAD_H

#include <stdbool.h>

struct gang;

/* True: the gang has GPUs, and cores whose memory has a known bandwidth. */
bool offload_can(const struct gang *gang);
/* Returns the seconds in which the host updates `params` parameters for each
 * GPU of the gang, and the links bring gradients and weights. */
double offload_update_s(const struct gang *gang, double params);
/* Returns the seconds in which gradients of one micro batch are added to those
 * that the host has. */
double offload_add_s(const struct gang *gang, double params);
/* Returns what of `host_s` a backward pass of that length does not hide. */
double offload_exposed_s(double host_s, double backward_s);
/* Returns the bytes of host memory for `params` parameters. */
double offload_host_bytes(double params);

#endif
