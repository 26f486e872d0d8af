/* SPDX-License-Identifier: GPL-3.0-or-later */
/* logs.c - see the header. */
#include "tests/aid/logs.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RESULT 7u               /* behind the seven tables */

static unsigned trials_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint64_t head[5];
    unsigned count = 0;
    long end;

    if (file == NULL)
        return 0;
    fseek(file, 0, SEEK_END);
    end = ftell(file);
    rewind(file);
    while (fread(head, sizeof head, 1, file) == 1 &&
           memcmp(head, "cs-log5", sizeof head[0]) == 0 &&
           ftell(file) + (long)head[3] <= end) {
        count += head[2] == RESULT;
        fseek(file, (long)((head[3] + 7) / 8 * 8), SEEK_CUR);
    }
    fclose(file);
    return count;
}

unsigned logs_list(const char *base, const char *name, char (*path)[300], unsigned most)
{
    struct dirent *entry;
    char folder[300];
    unsigned count = 0;
    DIR *list;

    snprintf(folder, sizeof folder, "%s/%s", base, name);
    list = opendir(folder);
    while (list != NULL && (entry = readdir(list)) != NULL) {
        size_t bytes = strlen(entry->d_name);

        if (bytes != 20 || strcmp(entry->d_name + 16, ".log") != 0)
            continue;
        if (count < most)
            snprintf(path[count], sizeof path[0], "%.200s/%.80s", folder, entry->d_name);
        count++;
    }
    if (list != NULL)
        closedir(list);
    return count;
}

unsigned logs_count(const char *base, const char *name)
{
    static const unsigned most = 64;
    char path[64][300];
    unsigned logs = logs_list(base, name, path, most), count = 0;

    for (unsigned i = 0; i < logs && i < most; i++)
        count += trials_of(path[i]);
    return count;
}
