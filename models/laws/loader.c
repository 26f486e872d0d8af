/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.c - the rate of a prefetched input pipeline.
 *
 * A batch passes stages in a pipeline: read, receive, decode on the cores of
 * workers, copy to the GPU.  They work at the same time, so the slowest sets the
 * rate, and how busy the others are follows from it.  How many bytes are read
 * follows from what the cache of the node misses.
 */
#include "models/laws/loader.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

static const char *const stage_name[LOADER_STAGE_COUNT] = {
    "storage", "cpu", "pcie", "gpu"
};
const char *const loader_kind_choices[] = {
    "tokens", "text", "image", "video", NULL
};
const char *const loader_from_choices[] = {
    "storage", "nvme", "memory", NULL
};
const char *const loader_cache_choices[] = { "page", "keep", NULL };
const char *const loader_files_choices[] = { "items", "shards", NULL };

/* One core of an EPYC 9B14 decodes and collates 612.5 ImageNet images a
 * second, of about 500 x 375 pixels (imread_benchmark 15865fb4, torchvision
 * loader without workers). */
#define IMAGE_PIXELS (500.0 * 375.0)
#define IMAGES_PER_S 612.5
/* ILSVRC 2012: 1,281,167 training images in 138 GB (image-net.org). */
#define IMAGE_FILE_BYTES (138e9 / 1281167.0)
/* GPT-2 tokenizer of Hugging Face: 1.49e6 tokens and 6.55 MB a second and
 * core (CPU not named in the source; taken as the reference). */
#define TEXT_TOKENS_PER_S 1.49e6
#define TEXT_BYTES_PER_TOKEN (6.55 / 1.49)
/* Stored tokens are 4-byte, tensors on the GPU 8-byte integers.  assumption:
 * copying and batching them runs at 1 GB/s and core. */
#define TOKEN_FILE_BYTES 4.0
#define TOKEN_GPU_BYTES 8.0
#define TOKEN_COPY_BPS 1e9
/* H.264 decode with resampling to 1 frame a second: 5.1 times real time on
 * one core of a CPU that the source does not name (ffmpeg; weak).
 * assumption: 5 Mb/s streams, frames of 224 x 224 pixels to the GPU. */
#define VIDEO_REAL_TIME 5.1
#define VIDEO_FILE_BPS (5e6 / 8.0)
#define VIDEO_GPU_BPS (224.0 * 224.0 * 3.0)

/* PyTorch DataLoader with 0, 2, 4 and 8 workers (imread_benchmark 15865fb4):
 * EPYC 9B14 613, 1030, 1495, 1596 images a second, Xeon 8581C 709, 1115, 1612,
 * 1609.  Both end at the same rate, though their cores differ by 16%: that of
 * the process which collects.  COLLECT_PER_S is the mean of the two rows of 8
 * workers, HANDOVER_S the least error on the two rows of 2.  The rows of 4 were
 * kept aside: +7% and -1%.  assumption: the limit counts items, because each
 * image comes as a tensor of its own; one size of item was measured.  Tokens
 * come as one tensor a batch, and have no limit. */
#define COLLECT_PER_S 1602.0
#define HANDOVER_S 0.35e-3

/* The page cache of Linux misses less often than a cache that drops what was used
 * longest ago. Such a cache has more misses than the share that is not cached, and
 * LRU_SHARE is the part of this surplus that Linux has. Mohan et al. 2021 (VLDB 14,
 * 5) read ImageNet's and OpenImages' files in random order and miss 85% with 35%
 * cached (section 4.3.2) and 53% with 65% (7.2), on which it was chosen: -4% and
 * +8%. Kept aside: 45 of 73 GiB missed on each of two nodes with half of the data
 * each (4.3.2), -4%; ResNet-50 1.53 times as fast with a cache that keeps (7.1),
 * +6%. Long files read from begin to end are the worst case of such a list: with 50%
 * cached, on which SHARD_HITS was chosen, 91% of TFRecords miss; kept aside, with
 * 35% and 25% 94% and 97% (Table 10b), 0% and -2%. DALI's own order of files,
 * shuffled in memory, misses 66% with 65% cached, between the two. */
#define LRU_SHARE 0.6
#define SHARD_HITS 0.18

/* What one core receives over TCP with every offload of Linux 5.4: 42 Gb/s,
 * half of it spent on the copy to the reader (Cai et al., SIGCOMM 2021). */
#define RECEIVE_BPS (42e9 / 8.0)

const char *loader_stage_name(enum loader_stage stage)
{
    assert(stage < LOADER_STAGE_COUNT);
    return stage_name[stage];
}

/* What one item costs each stage; `size` in tokens, pixels, or seconds of
 * video. */
struct loader_item loader_item(enum loader_kind kind, double size)
{
    assert(size > 0.0);
    struct loader_item item = { 0 };

    switch (kind) {
    case LOADER_TOKENS:
        item.core_s = size * TOKEN_GPU_BYTES / TOKEN_COPY_BPS;
        item.storage_bytes = size * TOKEN_FILE_BYTES;
        item.gpu_bytes = size * TOKEN_GPU_BYTES;
        break;
    case LOADER_TEXT:
        item.core_s = size / TEXT_TOKENS_PER_S;
        item.storage_bytes = size * TEXT_BYTES_PER_TOKEN;
        item.gpu_bytes = size * TOKEN_GPU_BYTES;
        break;
    case LOADER_IMAGE:
        item.core_s = size / IMAGE_PIXELS / IMAGES_PER_S;
        item.storage_bytes = size / IMAGE_PIXELS * IMAGE_FILE_BYTES;
        item.gpu_bytes = size * 3.0;
        break;
    case LOADER_VIDEO:
        item.core_s = size / VIDEO_REAL_TIME;
        item.storage_bytes = size * VIDEO_FILE_BPS;
        item.gpu_bytes = size * VIDEO_GPU_BPS;
        break;
    }
    item.reads = loader_usual_files(kind) == LOADER_ITEMS ? 1.0 : 0.0;
    if (kind == LOADER_IMAGE || kind == LOADER_VIDEO) {
        item.handover_s = HANDOVER_S;
        item.collect_s = 1.0 / COLLECT_PER_S;
    }
    assert(item.core_s > 0.0);
    return item;
}

enum loader_files loader_usual_files(enum loader_kind kind)
{
    assert(kind <= LOADER_VIDEO);
    return kind == LOADER_IMAGE || kind == LOADER_VIDEO ? LOADER_ITEMS
                                                        : LOADER_SHARDS;
}

/* One node meets every item once an epoch, in a new random order: between two
 * meetings, at u and v of their epochs, it has met a share 1 - v (1 - u) of
 * the others, and the item is still there if that is at most `cached` (least
 * recently used goes first).  So the hits are P(v (1 - u) >= 1 - cached) =
 * cached + (1 - cached) ln(1 - cached): a cache that is filled again and
 * again before it is used, the thrashing of Mohan et al. 2021, section 3.
 * Of many nodes each meets an item only now and then: independent draws, of
 * which hits are what is cached.  Between them the second term is divided by
 * the nodes, which a list of 2000 items misses by up to 0.09 (2 to 8 nodes;
 * tests/models/data_path_test.c). */
double loader_lru_fraction(double cached, uint32_t nodes)
{
    assert(cached >= 0.0 && nodes > 0);
    if (cached >= 1.0)
        return 0.0;
    double miss = 1.0 - cached;

    return miss - miss * log(miss) / nodes;
}

double loader_miss_fraction(enum loader_cache cache, enum loader_files files,
                            double cached, uint32_t nodes)
{
    assert(cached >= 0.0 && nodes > 0);
    double least = fmax(0.0, 1.0 - cached);

    if (cache == LOADER_CACHE_KEEP || least == 0.0)
        return least;
    if (files == LOADER_SHARDS)
        return 1.0 - SHARD_HITS * cached;
    return least + LRU_SHARE * (loader_lru_fraction(cached, nodes) - least);
}

/* Workers start one after the other, and the first batch is prepared by one of
 * them. */
double loader_restart_s(const struct loader_item *item, uint32_t workers,
                        double start_s, double items, double core_speed)
{
    assert(item->core_s >= 0.0 && items >= 0.0 && core_speed > 0.0);
    assert(start_s >= 0.0);
    if (workers == 0)
        return 0.0;
    return workers * start_s + items * (item->core_s + item->handover_s) / core_speed;
}

double loader_receive_core_s(double bytes)
{
    assert(bytes >= 0.0);
    return bytes / RECEIVE_BPS;
}

/* Items a second of all processes.  A process without workers prepares what it
 * uses, and hands nothing over. */
static double find_cpu_rate(const struct loader_item *item,
                            const struct loader_supply *supply)
{
    assert(item->core_s >= 0.0 && item->handover_s >= 0.0);
    assert(item->collect_s >= 0.0);
    double processes = supply->processes;
    double cores = supply->cores / processes;
    double core_s = item->core_s;

    if (supply->workers == 0)
        return processes * fmin(cores, 1.0) * supply->core_speed / core_s;
    core_s += item->handover_s;
    double prepared = fmin(supply->workers, cores) * supply->core_speed /
                      core_s;
    double collected = 1.0 / item->collect_s;

    return processes * fmin(prepared, collected);
}

/* Stages work beside each other, so the slowest decides; the others are busy
 * in proportion. */
struct loader_rate loader_rate(const struct loader_item *item,
                               const struct loader_supply *supply,
                               double gpu_items_per_s)
{
    assert(item && supply && supply->processes > 0 && supply->cores > 0.0);
    assert(supply->storage_bps > 0.0 && supply->pcie_bps > 0.0);
    assert(supply->core_speed > 0.0 && gpu_items_per_s > 0.0);
    struct loader_rate rate = { 0 };

    rate.stage_per_s[LOADER_STORAGE] = supply->storage_bps /
                                       item->storage_bytes;
    rate.stage_per_s[LOADER_CPU] = find_cpu_rate(item, supply);
    rate.stage_per_s[LOADER_PCIE] = supply->pcie_bps * supply->processes /
                                    item->gpu_bytes;
    rate.stage_per_s[LOADER_GPU] = gpu_items_per_s;
    rate.bottleneck = LOADER_GPU;
    rate.items_per_s = gpu_items_per_s;
    for (int i = 0; i < LOADER_STAGE_COUNT; i++) {
        if (rate.stage_per_s[i] < rate.items_per_s) {
            rate.items_per_s = rate.stage_per_s[i];
            rate.bottleneck = (enum loader_stage)i;
        }
    }
    for (int i = 0; i < LOADER_STAGE_COUNT; i++) {
        rate.busy_fraction[i] = rate.items_per_s / rate.stage_per_s[i];
    }
    rate.stall_fraction = 1.0 - rate.busy_fraction[LOADER_GPU];
    return rate;
}
