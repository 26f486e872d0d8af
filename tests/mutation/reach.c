/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reach.c - notes which blocks of the product a program runs, in the file that MUTATION_REACH
 * names: one byte for each byte of code, shared by all processes that the program starts. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void __sanitizer_cov_trace_pc(void);

static uint8_t *noted;
static uintptr_t base;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("MUTATION_REACH");
    int file = path ? open(path, O_RDWR) : -1;
    Dl_info info;
    if (file < 0 || !dladdr((void *)&__sanitizer_cov_trace_pc, &info))
        return;
    void *at = mmap(NULL, (size_t)lseek(file, 0, SEEK_END), PROT_READ | PROT_WRITE, MAP_SHARED,
                    file, 0);
    close(file);
    base = (uintptr_t)info.dli_fbase;
    noted = at == MAP_FAILED ? NULL : at;
}

void __sanitizer_cov_trace_pc(void)
{
    if (noted)
        noted[(uintptr_t)__builtin_return_address(0) - base] = 1;
}
