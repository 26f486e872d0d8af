/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dlrm2025.c - instances of Alibaba's disaggregated recommendation
 * serving (NSDI 2025), disaggregated_DLRM_trace.csv of cluster-trace-gpu-v2025.
 *
 * An instance is a job from scheduled_time to deletion_time; a time that is
 * empty lies outside of the trace.  Instances on CPU nodes (CN) ask for no GPU.
 */
#include "workloads/formats/row.h"

static const char *const columns[] = {
    "instance_sn", "role", "app_name", "gpu_request", "creation_time",
    "scheduled_time", "deletion_time", NULL};
enum { INSTANCE, ROLE, APP, GPUS, CREATION, SCHEDULED, DELETION };

/* An instance is a job: it lies on its node from its scheduling to its deletion. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct timed_columns at = {
        .job = column[INSTANCE], .submit = column[CREATION],
        .start = column[SCHEDULED], .end = column[DELETION],
        .gpus = column[GPUS], .tenant = column[APP]};

    return import_timed(importer, &at, row, err);
}

const struct import_format import_dlrm2025 = {
    .name = "dlrm2025",
    .summary = "Alibaba recommendation serving 2025, instances on GPU nodes",
    .about = "# Alibaba DLRM serving 2025 (NSDI 2025): an instance of a "
             "service is a job, its\n"
             "# application the tenant.  Shares of NICs, cores and memory are "
             "not read.\n",
    .layout = CSV_COMMA, .columns = columns, .row = read_row,
};
