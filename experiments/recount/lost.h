/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lost.h - GPU time that interrupted jobs held for nothing: from the instant at which they
 * had done what they went back to, or from an interruption that came later.
 *
 * Each call stands for a fact, and calls come in the order of facts.  What is held is counted
 * in thousandths of GPUs x ns, from the end of the warm-up on.
 */
#ifndef EXPERIMENTS_RECOUNT_LOST_H
#define EXPERIMENTS_RECOUNT_LOST_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct host_job;
struct host_phase_run;
struct lost;
struct trial_spec;

/* Returns an empty book in the arena; NULL: nothing can interrupt a job of this trial. */
struct lost *lost_new(struct arena *arena, const struct trial_spec *spec);
/* A lease of a job takes (+1) or gives back (-1) `milli` thousandths of GPUs that it holds
 * since take_ns.  from_ns: where counting begins, which is the same at all calls that
 * follow a lease. */
void lost_lease(struct lost *lost, uint32_t job, int64_t milli, int64_t take_ns,
                int64_t now_ns, int64_t from_ns, int change);
/* A phase of a job ends, which ran on `milli` thousandths of GPUs; done: it was not cut
 * short. */
void lost_phase(struct lost *lost, const struct host_job *job,
                const struct host_phase_run *run, int64_t milli, int64_t now_ns, bool done);
/* A job was set back; its progress is what it has kept. */
void lost_back(struct lost *lost, const struct host_job *job, int64_t now_ns);
/* A job was interrupted and not set back: it says that gpu_s GPU-seconds were for nothing.
 * They are taken as told, and not counted once more if it is set back later. */
void lost_cut(struct lost *lost, const struct host_job *job, int64_t now_ns, double gpu_s);
/* Returns the GPU-seconds, and by how much they may be wrong by rounding to ns; NAN: not
 * known, as the speed of a job changed within a phase. */
double lost_s(const struct lost *lost, double *rounding_s);

#endif
