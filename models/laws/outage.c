/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.c - rates of failure, and the laws of checkpoint and restart.
 *
 * Failures are Poisson: rates of parts add up.  Young 1974 and Daly 2006 are
 * the optimum intervals of checkpoints, see outage.h.
 */
#include "models/laws/outage.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define YEAR_S (365.25 * 86400)
#define MTBF(KEY, MEMBER, HELP) \
    CONF_KEY(KEY, CONF_TIME, outage_spec, MEMBER, CONF_ABSENT, HELP, \
             .min = 1, .max = 250 * YEAR_S)

static const struct conf_field outage_fields[] = {
    MTBF("gpu_mtbf", gpu_mtbf_ns,
         "mean time between failures of one GPU, which take its node out"),
    MTBF("node_mtbf", node_mtbf_ns,
         "mean time between failures of one node, by what is not a GPU"),
    MTBF("switch_mtbf", switch_mtbf_ns,
         "mean time between failures of one leaf switch: all nodes below it"),
    MTBF("job_mtbf", job_mtbf_ns,
         "mean time between interruptions of one running job, whatever its "
         "size, by software, data or operators"),
    CONF_KEY("trace", CONF_NODE, outage_spec, trace, CONF_ABSENT,
             "nodes fail as recorded: file, servers, from; each plays one "
             "server, drawn by the seed"),
    CONF_KEY("repair", CONF_TIME, outage_spec, repair_ns, "4h",
             "how long a node is out of service (assumption)",
             .min = 1, .max = YEAR_S),
    CONF_KEY("restart", CONF_TIME, outage_spec, restart_ns, "0s",
             "how long an interrupted job holds its next lease before it "
             "works, beside loading", .max = YEAR_S),
    CONF_KEY("checkpoint", CONF_TIME, outage_spec, checkpoint_ns, CONF_ABSENT,
             "work between two saves of a job of known length, as time at full "
             "speed: at half speed twice as much time passes; a save costs "
             "nothing; without it an interrupted job begins anew (jobs of "
             "phases: as their checkpoint_every)", .min = 1, .max = YEAR_S),
};

const struct conf_schema outage_schema =
    CONF_SCHEMA("cluster.failures",
                "what fails, and how long that takes", outage_fields);

bool outage_read(const struct conf_node *conf, struct outage_spec *spec,
                 struct err *err)
{
    assert(conf != NULL && spec != NULL);
    *spec = (struct outage_spec) { 0 };
    return conf_fill(conf, &outage_schema, spec, err);
}

static double rate_per_s(double count, int64_t mtbf_ns)
{
    assert(count >= 0);
    return mtbf_ns > 0 ? count / clock_s_from_ns(mtbf_ns) : 0;
}

double outage_hardware_per_s(const struct outage_spec *spec, double gpus,
                             double nodes, double switches)
{
    assert(spec != NULL);
    return rate_per_s(gpus, spec->gpu_mtbf_ns) +
           rate_per_s(nodes, spec->node_mtbf_ns) +
           rate_per_s(switches, spec->switch_mtbf_ns);
}

double outage_mtti_s(const struct outage_spec *spec, double gpus,
                     double nodes, double switches)
{
    assert(spec != NULL);
    assert(gpus >= 0.0 && nodes >= 0.0 && switches >= 0.0);
    double rate = outage_hardware_per_s(spec, gpus, nodes, switches) +
                  rate_per_s(1, spec->job_mtbf_ns);

    return rate > 0 ? 1 / rate : INFINITY;
}

double outage_young_s(double save_s, double mtti_s)
{
    assert(save_s >= 0 && mtti_s > 0);
    return sqrt(2 * save_s * mtti_s);
}

/* Daly 2006, equation 37; beyond its range the interval is the mean time to
 * interruption. */
double outage_daly_s(double save_s, double mtti_s)
{
    double x = save_s / (2 * mtti_s);

    assert(save_s >= 0 && mtti_s > 0);
    if (x >= 1)
        return mtti_s;
    return sqrt(2 * save_s * mtti_s) * (1 + sqrt(x) / 3 + x / 9) - save_s;
}

/* Daly 2006, equation 20: failures during saving and restarting included. */
double outage_expected_s(double work_s, double interval_s, double save_s,
                         double restart_s, double mtti_s)
{
    assert(work_s >= 0 && interval_s > 0 && mtti_s > 0);
    if (isinf(mtti_s))
        return work_s * (1 + save_s / interval_s);
    return mtti_s * exp(restart_s / mtti_s) *
           expm1((interval_s + save_s) / mtti_s) * work_s / interval_s;
}
