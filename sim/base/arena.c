/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.c - memory that is freed all at once: a chain of zeroed blocks.
 *
 * Blocks come from calloc and are handed out front to back; nothing is ever
 * handed out twice, so that what is handed out is zero.  The head of the
 * chain is the block in use.  A request larger than a block gets a block of
 * its own behind the head, so that the room left in the head is not lost.
 * Blocks double up to 1 MiB: few calls for a large arena, little waste in a
 * small one.
 *
 * Memory of a large arena that is met in no order pays for finding its page more than
 * for fetching it.  So blocks of 2 MiB or more come from mmap, on a boundary of
 * that size, and the system is told that huge pages will do (madvise), where
 * it knows of them; the rest behind the last whole one stays in small pages,
 * and an arena that holds HUGE_FROM_BYTES takes its blocks by 2 MiB.
 */
#define _DEFAULT_SOURCE 1       /* MAP_ANONYMOUS and madvise are not POSIX */
#include "sim/base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN_BYTES         ((size_t)16)    /* malloc's promise on x86-64 */
#define LINE_BYTES          ((size_t)64)
/* Bytes of data in blocks: the least that a caller may ask for, the size at which doubling
 * ends, and the size for a caller that names none. */
#define BLOCK_BYTES_MIN     ((size_t)256)
#define BLOCK_BYTES_MAX     ((size_t)1 << 20)
#define BLOCK_BYTES_USUAL   ((size_t)1 << 16)
#define HUGE_BYTES          ((size_t)1 << 21)   /* a huge page of x86-64 */
#define PAGE_BYTES          ((size_t)1 << 16)   /* of the largest small one */
#define HUGE_FROM_BYTES     ((size_t)1 << 23)
#define ARRAY_ROOM_FIRST    ((size_t)4)         /* of a growing array */

/* The sanitizer of addresses knows what malloc gave, and what points to it. */
#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#if defined(MAP_ANONYMOUS) && defined(MADV_HUGEPAGE) && !defined(ASAN)
#define MAPS 1
#endif

/* A piece of memory from the system: this header, then data. Bytes from
 * used_bytes on have never been handed out and are zero. */
struct block {
    struct block *next;         /* an older one; NULL: the first */
    size_t room_bytes;          /* of the data, which follows the header */
    size_t used_bytes;
    size_t map_bytes;           /* from mmap; 0: from calloc */
};

#define HEADER_BYTES \
    ((sizeof(struct block) + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES)

struct arena {
    struct block *head;         /* NULL before the first request */
    struct arena_file file;
    size_t next_block_bytes;    /* of data; doubles up to BLOCK_BYTES_MAX */
    size_t used_bytes;          /* handed out, in all blocks */
};

_Static_assert(_Alignof(max_align_t) <= ALIGN_BYTES,
               "the arena aligns for every type");

/* The one place where memory runs out.  SIGABRT's handler in the program
 * turns this into exit status 70. */
void arena_run_out(void)
{
    fputs("clustersim: out of memory\n", stderr);
    abort();
}

/* Returns what an allocator gave, and ends the process where it gave
 * nothing. */
static void *require_memory(void *memory)
{
    if (memory == NULL)
        arena_run_out();
    return memory;
}

/* Makes the record alone; the first request makes the first block. */
struct arena *arena_new(size_t block_bytes)
{
    struct arena *arena = require_memory(calloc(1, sizeof *arena));

    arena->next_block_bytes = block_bytes;
    if (block_bytes == 0)
        arena->next_block_bytes = BLOCK_BYTES_USUAL;
    else if (block_bytes < BLOCK_BYTES_MIN)
        arena->next_block_bytes = BLOCK_BYTES_MIN;
    assert(arena->next_block_bytes >= BLOCK_BYTES_MIN);
    return arena;
}

/* Returns a block to where it came from: a mapping, or malloc(). */
static void block_free(struct block *block)
{
    if (block->map_bytes > 0)
        munmap(block, block->map_bytes);
    else
        free(block);
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    if (arena->file.file != NULL)
        fclose(arena->file.file);
    struct block *block = arena->head;
    while (block != NULL) {
        struct block *next = block->next;
        assert(block->used_bytes <= block->room_bytes);
        block_free(block);
        block = next;
    }
    free(arena);
}

/* Zeroed, on a boundary of a huge page; NULL where there is no such call.  The system maps
 * only whole pages and chooses the address.  So the call asks for HUGE_BYTES more than it
 * needs, and gives back what lies before the boundary and behind the room. */
static struct block *block_map(size_t bytes)
{
#ifdef MAPS
    size_t room = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    char *map = mmap(NULL, room + HUGE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)map % HUGE_BYTES;
    if (before > 0)
        munmap(map, before);
    munmap(map + before + room, HUGE_BYTES - before);
    struct block *block = (struct block *)(void *)(map + before);
    assert((uintptr_t)block % HUGE_BYTES == 0);
    /* Refused where the system has no huge pages: small ones serve as well. */
    (void)madvise(block, bytes / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
    block->map_bytes = room;
    return block;
#else
    (void)bytes;
    return NULL;
#endif
}

/* Returns a zeroed block with room for room_bytes of data. Large ones come
 * from mmap, for huge pages; calloc serves where that fails. */
static struct block *block_new(size_t room_bytes)
{
    assert(room_bytes > 0);
    assert(room_bytes <= SIZE_MAX / 2);
    size_t bytes = HEADER_BYTES + room_bytes;
    struct block *block = bytes >= HUGE_BYTES ? block_map(bytes) : NULL;

    if (block == NULL)
        block = require_memory(calloc(1, bytes));
    block->room_bytes = room_bytes;
    return block;
}

/* A block that has room for `bytes`; it is in the chain when this returns.  A request above a
 * quarter of the next block gets a block of its own behind the head, unless the head has room.
 * Each other request that does not fit makes a new head; what the old head has left stays
 * unused. */
static struct block *block_with_room(struct arena *arena, size_t bytes)
{
    struct block *head = arena->head;
    assert(bytes > 0 && arena->next_block_bytes >= BLOCK_BYTES_MIN);
    if (head != NULL && head->room_bytes - head->used_bytes >= bytes)
        return head;
    if (head != NULL && bytes > arena->next_block_bytes / 4) {
        struct block *own = block_new(bytes);
        own->next = head->next;
        head->next = own;
        return own;
    }
    size_t room_bytes = arena->next_block_bytes;
    if (arena->used_bytes >= HUGE_FROM_BYTES && room_bytes < HUGE_BYTES)
        room_bytes = HUGE_BYTES - HEADER_BYTES;
    if (room_bytes < bytes)
        room_bytes = bytes;
    struct block *fresh = block_new(room_bytes);
    fresh->next = head;
    arena->head = fresh;
    if (arena->next_block_bytes < BLOCK_BYTES_MAX)
        arena->next_block_bytes *= 2;
    return fresh;
}

/* Large arrays begin at a cache line, so that two threads' arrays share none
 * and vector loads do not split; small ones are only aligned. */
void *arena_alloc(struct arena *arena, size_t count, size_t item_bytes)
{
    assert(arena != NULL);
    assert(item_bytes == 0 || count <= (SIZE_MAX / 2) / item_bytes);
    size_t bytes = count * item_bytes;
    /* Nothing asked for still gets an address of its own. */
    if (bytes == 0)
        bytes = 1;
    bytes = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;

    /* To move it to a line, by as much as the address says. */
    size_t play = bytes >= ARENA_LINES_BYTES ? LINE_BYTES - ALIGN_BYTES : 0;

    struct block *block = block_with_room(arena, bytes + play);
    assert(block->room_bytes - block->used_bytes >= bytes + play);
    char *data = (char *)block + HEADER_BYTES + block->used_bytes;
    if (play > 0)
        data += -(uintptr_t)data % LINE_BYTES;
    block->used_bytes += bytes + play;
    arena->used_bytes += bytes;
    return data;
}

char *arena_text(struct arena *arena, const char *text)
{
    assert(arena != NULL);
    assert(text != NULL);
    size_t bytes = strlen(text) + 1;
    char *copy = arena_alloc(arena, bytes, 1);

    memcpy(copy, text, bytes);
    return copy;
}

void *arena_grow(struct arena *arena, void *items, size_t count,
                 size_t new_count, size_t item_bytes)
{
    assert(new_count >= count);
    assert(items != NULL || count == 0);
    void *grown = arena_alloc(arena, new_count, item_bytes);

    if (count > 0)
        memcpy(grown, items, count * item_bytes);
    return grown;
}

/* What a growing array of `room` items has room for when it has `index`.  For example 0 items
 * that must reach index 9 become 16: 4, 8, 16. */
static size_t room_reaching(size_t room, size_t index)
{
    size_t more = room == 0 ? ARRAY_ROOM_FIRST : 2 * room;

    assert(index >= room);
    assert(index < SIZE_MAX / 4);
    while (more <= index)
        more *= 2;
    return more;
}

/* Returns the items in larger storage, `more` in place of `room`, the new ones
 * zero: in the arena, or by realloc where the owner frees the array itself. */
static void *array_move(struct arena *arena, void *items, size_t room,
                        size_t more, size_t item_bytes)
{
    if (arena != NULL)
        return arena_grow(arena, items, room, more, item_bytes);
    char *own = arena_resize_own(items, more, item_bytes);
    memset(own + room * item_bytes, 0, (more - room) * item_bytes);
    return own;
}

void *arena_reach_u32(struct arena *arena, void *items, uint32_t *room,
                      size_t index, size_t item_bytes)
{
    size_t more = room_reaching(*room, index);

    assert(more <= UINT32_MAX);
    items = array_move(arena, items, *room, more, item_bytes);
    *room = (uint32_t)more;
    assert(index < *room);
    return items;
}

void *arena_reach_size(struct arena *arena, void *items, size_t *room,
                       size_t index, size_t item_bytes)
{
    size_t more = room_reaching(*room, index);

    items = array_move(arena, items, *room, more, item_bytes);
    *room = more;
    assert(index < *room);
    return items;
}

struct arena_file *arena_file(struct arena *arena)
{
    assert(arena != NULL);
    if (arena->file.file == NULL)
        arena->file.file = tmpfile();
    return &arena->file;
}

size_t arena_used_bytes(const struct arena *arena)
{
    assert(arena != NULL);
    return arena->used_bytes;
}

void *arena_resize_own(void *items, size_t count, size_t item_bytes)
{
    assert(count > 0 && item_bytes > 0);
    assert(count <= (SIZE_MAX / 2) / item_bytes);
    return require_memory(realloc(items, count * item_bytes));
}
