/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library.c - reads a shared library with libelf.
 */
#include "experiments/plugins/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "experiments/plugins/host_file.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define NAMES_SHOWN 5u
#define TABLE_END "_policy"

/* What policies may call besides cs_*. */
static const char *const callable[] = {
#define CALLABLE(NAME) #NAME,
#include "policies/registry/callable.def"
#undef CALLABLE
};

/* Libraries that C itself brings. */
static const char *const of_c[] = { "libc.so", "libm.so", "ld-linux", "linux-vdso" };

struct library {
    struct arena *arena;
    Elf *elf;                   /* the open file, before any of its code runs */
    struct err_pos pos;         /* where the experiment names it */
    const char *called;         /* by the user */
    const char *calls;          /* of what it may not call, the first few */
    const char *lacks;          /* of cs_*, what this program has not */
    void *program;              /* for dlsym */
    uint32_t calls_count;
    const char *table;          /* the last one found */
    uint32_t table_count;
    struct err *err;
};

/* Sets the error "NAME why".  Returns false, so that a check can end with it. */
static bool refuse(struct library *library, const char *why)
{
    return err_set(library->err, ERR_POLICY, library->pos, "%.120s %s",
                   library->called, why);
}

/* May a policy call this?  A closed list: a function that it does not name could
 * read a clock or a file, and a run would not be repeatable. cs_* is left to
 * note_call(). */
static bool is_callable(const char *name)
{
    if (strncmp(name, "cs_", 3) == 0)
        return true;
    for (size_t i = 0; i < sizeof callable / sizeof callable[0]; i++)
        if (strcmp(callable[i], name) == 0)
            return true;
    return false;
}

/* Is it a library for the machine that this program was built for? */
static bool check_kind(struct library *library)
{
    GElf_Ehdr head, own;
    int fd = open(host_file_path(library->arena), O_RDONLY | O_CLOEXEC);
    Elf *self = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    bool known = self != NULL && gelf_getehdr(self, &own) != NULL;

    elf_end(self);
    if (fd >= 0)
        (void)close(fd);
    if (elf_kind(library->elf) != ELF_K_ELF ||
        gelf_getehdr(library->elf, &head) == NULL)
        return refuse(library, "is not a shared library");
    if (known && (head.e_machine != own.e_machine ||
                  head.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
                  head.e_ident[EI_DATA] != own.e_ident[EI_DATA]))
        return refuse(library, "is for another kind of processor than this program");
    return head.e_type == ET_DYN ||
           refuse(library, "is not a shared library: link it with -shared");
}

/* Notes a symbol that the library leaves to others: one of cs_* that this program
 * lacks, or one that no policy may call.  All are counted, the first few are named. */
static void note_call(struct library *library, const char *name)
{
    if (strncmp(name, "cs_", 3) == 0 && dlsym(library->program, name) == NULL)
        library->lacks = arena_text(library->arena, name);
    if (is_callable(name))
        return;
    if (library->calls_count++ < NAMES_SHOWN)
        library->calls = text_format(library->arena, "%s%s%.60s", library->calls,
                                     library->calls[0] == '\0' ? "" : ", ", name);
}

/* Notes a table of a policy, which is known by its name: NAME_policy. */
static void note_table(struct library *library, const char *name)
{
    size_t bytes = strlen(name), end = strlen(TABLE_END);

    if (bytes <= end || strcmp(name + bytes - end, TABLE_END) != 0)
        return;
    library->table = arena_text(library->arena, name);
    library->table_count++;
}

/* Walks the dynamic symbols.  The first one of a section is reserved (all zero) and
 * left out.  A section whose entries have no size has none. */
static void read_symbols(struct library *library, Elf_Scn *section,
                         const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = head->sh_entsize == 0 ? 0 : head->sh_size / head->sh_entsize;
    GElf_Sym symbol;

    for (size_t i = 1; data != NULL && i < count &&
                       gelf_getsym(data, (int)i, &symbol) != NULL; i++) {
        const char *name = elf_strptr(library->elf, head->sh_link, symbol.st_name);

        if (name == NULL || name[0] == '\0')
            continue;
        if (symbol.st_shndx == SHN_UNDEF)
            note_call(library, name);
        else if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
            note_table(library, name);
    }
}

/* Does each C program have this library anyway?  Versions behind the name do not
 * matter. */
static bool is_of_c(const char *name)
{
    for (size_t i = 0; i < sizeof of_c / sizeof of_c[0]; i++)
        if (strncmp(name, of_c[i], strlen(of_c[i])) == 0)
            return true;
    return false;
}

/* Walks the libraries that must be loaded with this one.  One that C does not bring
 * is refused: its code would run unchecked. */
static bool read_needs(struct library *library, Elf_Scn *section,
                       const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = head->sh_entsize == 0 ? 0 : head->sh_size / head->sh_entsize;
    GElf_Dyn item;

    for (size_t i = 0; data != NULL && i < count &&
                       gelf_getdyn(data, (int)i, &item) != NULL; i++) {
        const char *name = item.d_tag != DT_NEEDED ? NULL
            : elf_strptr(library->elf, head->sh_link, item.d_un.d_val);

        if (name != NULL && !is_of_c(name))
            return refuse(library, text_format(library->arena, "needs the library "
                          "%.60s; a policy stands alone", name));
    }
    return true;
}

/* Walks the sections of the file.  False: a needed library is refused, and the
 * error is set.  What is found of calls and tables is judged later, when all is
 * known. */
static bool read_sections(struct library *library)
{
    Elf_Scn *section = NULL;
    GElf_Shdr head;

    while ((section = elf_nextscn(library->elf, section)) != NULL) {
        if (gelf_getshdr(section, &head) == NULL)
            continue;
        if (head.sh_type == SHT_DYNSYM)
            read_symbols(library, section, &head);
        if (head.sh_type == SHT_DYNAMIC && !read_needs(library, section, &head))
            return false;
    }
    return true;
}

/* A function that this program does not have is told first: it means another ABI,
 * and then what else is called matters little. */
static bool check_calls(struct library *library)
{
    if (library->lacks != NULL)
        return refuse(library, text_format(library->arena, "calls %.60s, which this "
                      "program (ABI %u.%u) does not have", library->lacks,
                      CS_POLICY_ABI_MAJOR, CS_POLICY_ABI_MINOR));
    if (library->calls_count == 0)
        return true;
    refuse(library, text_format(library->arena, "calls %s%s", library->calls,
                                library->calls_count > NAMES_SHOWN ? ", ..." : ""));
    return err_hint(library->err, "A policy calls the cs_ functions of policies/*.h, "
                    "memcpy and its like, and libm: no clock, file, thread or memory "
                    "of its own.");
}

/* One file, one policy: an experiment names the file and not the table. */
static bool check_table(struct library *library)
{
    if (library->table_count == 1)
        return true;
    refuse(library, library->table_count == 0
           ? "has no table: no `const struct cs_policy NAME_policy`"
           : "has more than one table whose name ends in _policy");
    return err_hint(library->err, "One file holds one policy; its table is neither "
                    "static nor hidden.");
}

const char *library_check(struct arena *arena, const char *path, const char *called,
                          struct err_pos pos, struct err *err)
{
    struct library library = { .arena = arena, .pos = pos, .called = called,
                               .calls = "", .program = dlopen(NULL, RTLD_NOW),
                               .err = err };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    (void)elf_version(EV_CURRENT);
    library.elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    ok = library.elf == NULL ? refuse(&library, "cannot be read as a library")
                             : check_kind(&library) && read_sections(&library) &&
                               check_calls(&library) && check_table(&library);
    elf_end(library.elf);
    if (fd >= 0)
        (void)close(fd);
    return ok ? library.table : NULL;
}
