/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * comm_table.h - measured times of collectives inside a node.
 *
 * Microseconds.  Indexes: the kind of link; all-reduce, all-gather,
 * reduce-scatter, all-to-all (as in enum comm_op); 2, 4, 8 GPUs; the size
 * 512 B << 2 i.
 */
#ifndef MODELS_LAWS_COMM_TABLE_H
#define MODELS_LAWS_COMM_TABLE_H

#define COMM_TABLE_LINKS 4
#define COMM_TABLE_SIZES 11

extern const float
    comm_table_us[COMM_TABLE_LINKS][4][3][COMM_TABLE_SIZES];

#endif
