/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand.h - nodes that are rented ahead of the jobs: a stated number, or as many as
 * arriving jobs are forecast to ask for while a node starts.
 *
 * The forecast sees arrivals of the past alone.  Nodes asked for are counted by slots
 * of time, and the next slots are forecast by sim/stats/seasonal.h.  The nodes ahead
 * are the base stock of an inventory: the least number that suffices with the
 * probability `ready` for what comes until a node that is ordered now, or at the next
 * look, is there (Arrow, Harris and Marschak 1951).  What comes is taken as Poisson,
 * in units of E[b^2] / E[b] for jobs of b nodes, which has the variance of a compound
 * Poisson.  Nodes that other jobs will give back are not counted.
 */
#ifndef POLICIES_NODES_DEMAND_H
#define POLICIES_NODES_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

struct cs_host;
struct host_demand;

/* Returns a group's demand, before any job; NULL: the group does not forecast.  Memory
 * comes from the trial's arena. */
struct host_demand *host_demand_new(struct cs_host *host, uint32_t group);
/* A job that came now asks for some nodes of the group, or a part of one. */
void host_demand_add(struct cs_host *host, uint32_t group, double nodes);
/* Ends the slots that are over; to be called before the numbers are asked for. */
void host_demand_follow(struct cs_host *host);
/* Returns the number of nodes to have ahead of the tasks that wait. */
uint32_t host_demand_ahead(const struct cs_host *host, uint32_t group);
/* Returns when the forecast is looked at next; CLOCK_NEVER_NS: no group has one. */
int64_t host_demand_look_ns(const struct cs_host *host);
/* Returns the mean absolute error of the forecasts of the next slot, over the mean demand
 * of these slots, from a time on and after the first season; of all groups.  NAN: nothing
 * was forecast. */
double host_demand_error(const struct cs_host *host, int64_t from_ns);

#endif
