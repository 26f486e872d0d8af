/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench.h - `clustersim bench`: the engine's own speed on this machine.
 */
#ifndef EXPERIMENTS_BENCH_BENCH_H
#define EXPERIMENTS_BENCH_BENCH_H

/* argv[0] is "bench".  Returns the process's exit status. */
int bench_main(int argc, char **argv);

#endif
