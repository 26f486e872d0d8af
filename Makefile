# SPDX-License-Identifier: GPL-3.0-or-later
# Makefile - builds clustersim in build/, tests it, installs it: `make help`.
# A variant is a folder B of its own: `make B=build/x CC=clang SAN=address unit`.
# FLOORS="sim models" builds the library from those folders alone.
VERSION = 0.1.0
B       = build
PREFIX  = /usr/local
DESTDIR =
CFLAGS  = -O2 -g
WERROR  = -Werror
SAN     =
FLOORS  = sim models policies workloads experiments
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
$(if $(V),,$(eval .SILENT:))
.SECONDARY .DELETE_ON_ERROR .SECONDEXPANSION:

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wcast-align -Wconversion -Wno-sign-conversion -Wno-string-conversion
PKGS := gsl yaml-0.1 zlib libzstd libelf libarchive
INCS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null || \
         echo -lgsl -lgslcblas -lyaml -lz -lzstd -lelf -larchive) -lglpk -lxxhash -lm -pthread
SANS := $(if $(SAN),-fsanitize=$(SAN) $(BUT) -fno-sanitize-recover=all -fno-omit-frame-pointer)
MODE := $(strip -std=c11 $(CFLAGS) -ffp-contract=off $(SANS))
ALL  := $(MODE) -fPIC -fno-semantic-interposition $(WARN) $(WERROR) -pthread \
        -ffile-prefix-map=$(CURDIR)=. -I. $(INCS) -D_POSIX_C_SOURCE=200809L $(CPPFLAGS) \
        -DCLUSTERSIM_VERSION=\"$(VERSION)\" -DCLUSTERSIM_FLAGS="\"$(MODE)\""

# Data that travels inside the program: NAME_file[] of EMBED_NAME, see models/embed.sh.
EMBED_catalogue := $(wildcard models/catalogue/*.yaml)
EMBED_cite      := experiments/CITATION.cff
EMBED_start     := $(wildcard workloads/start/*.yaml)
EMBED_plot      := $(wildcard plots/*.gp)
EMBED_page      := $(wildcard experiments/report/page/*.* experiments/report/page/uplot/*.min.*)
EMBED_header    := $(sort $(filter %.h,$(shell $(CC) -MM -I. policies/*.h 2>/dev/null)))
EMBEDS          := $(sort $(filter EMBED_%,$(.VARIABLES)))
SRC   := $(filter-out experiments/main.c %/fleet/mpi.c policies/clients/% policies/python/%,\
         $(shell find $(FLOORS) -name '*.c' | LC_ALL=C sort))
OBJ   := $(SRC:%.c=$(B)/%.o) $(EMBEDS:EMBED_%=$(B)/embed/%_data.o) $(B)/embed/rng_table.o
LIB   := $(B)/libclustersim.a
SO    := $(B)/libclustersim.so.$(VERSION)
TESTED := $(B)/tests/tested.so
TEST  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/*/*_test.c))
TESTS := $(patsubst %.o,$(B)/tests/%,$(notdir $(TEST)))
FUZZ  := $(patsubst tests/fuzz/%.c,$(B)/tests/%,$(wildcard tests/fuzz/*.c))
AIDS  := $(patsubst %.c,$(B)/%,$(wildcard tests/aid/*.c tests/oracles/*.c))
BENCH := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
.PHONY: all lib tests unit asan tsan check house test demo bench bless validate faults help \
    mutants weights claims pictures deb fuzz format install uninstall dist clean clean-root FORCE
# The module of ranks is built where Open MPI is; the program links with none of it.
MPI     := $(if $(SAN),,$(shell pkg-config --cflags --libs ompi-c 2>/dev/null))
PROGRAM := $(if $(wildcard experiments/main.c),$(B)/clustersim $(B)/clustersim-bench \
             $(if $(MPI),$(B)/clustersim_mpi.so))
all: $(PROGRAM) $(LIB) $(if $(SAN),,$(SO))  ## programs and library (the default)
lib: $(LIB) $(SO)               ## the library alone
tests: $(TESTS)                 ## the test programs
unit: all tests                 ## build and run the tests (T="queue_test ...": only those)
	tests/run.sh $(B) $(T)

# Policies from files call the cs_ functions of the program that loads them.
$(B)/clustersim: LDFLAGS += -Wl,--export-dynamic-symbol='cs_*'
$(B)/clustersim: $(B)/experiments/main.o $(LIB)
$(B)/clustersim-bench: $(BENCH:=.o) $(B)/tests/oracles/heap4.o $(LIB)
$(B)/clustersim $(B)/clustersim-bench:
	echo '  LINK   $@'
	$(CC) $(MODE) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/clustersim_mpi.so: experiments/fleet/mpi.c experiments/fleet/module.h $(LIB)
	echo '  LINK   $@'; $(CC) $(ALL) $(LDFLAGS) -shared -o $@ $< $(MPI)
# What is installed has a version, and its own symbols alone; in tests, theirs stand before its.
$(SO): SHARED = -Bsymbolic-functions,--version-script=$(word 2,$^),-h,$(basename $(basename $(@F)))
$(TESTED): SHARED = -h,$(@F)
$(SO) $(TESTED): $(LIB) experiments/library/exports.map
	echo '  LINK   $@'; mkdir -p $(@D); $(CC) $(MODE) $(LDFLAGS) -shared -Wl,$(SHARED) -o $@ \
	    -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive $(LIBS)
$(LIB) $(B)/libaids.a: $(B)/sources.stamp
	echo '  AR     $@'; rm -f $@
	$(AR) qcs $@ $(filter %.o,$^)
$(LIB): $(OBJ)
$(B)/libaids.a: $(AIDS:=.o)
LINK   := $(if $(shell command -v ld.lld),-fuse-ld=lld) $(if $(SAN),,-Wl,-S)
$(foreach t,$(TEST),$(eval $(B)/tests/$(notdir $(t:.o=)): $(t)))
$(TESTS): $(B)/libaids.a | $(TESTED)
	echo '  LINK   $@'
	$(CC) $(MODE) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $| \
	    -Wl,-rpath,'$$ORIGIN' -lcmocka $(LIBS)
$(B)/tests/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(LIB)
	echo '  LINK   $@'
	$(CC) $(MODE) $(LINK) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)
# Files that read no text tell a fuzzer no comparisons.  Pointers into raw memory are made in sim
# alone; elsewhere -Wcast-align and ASan see them.  Those checks take 40% of the compile time.
MUTE = $(if $(BUT),$(if $(filter models/% policies/% tests/%,$<),-fno-sanitize-coverage=trace-cmp) \
          $(if $(filter sim/%,$<),,-fno-sanitize=alignment,pointer-overflow))
QUICK   = $(if $(filter %_test.o,$@),-O0)
COMPILE = echo '  CC     $@'; mkdir -p $(@D); $(CC) $(ALL) $(QUICK) $(MUTE) -MMD -MP -c -o $@ $<
$(B)/%.o: %.c $(B)/flags.stamp; $(COMPILE)
$(B)/%.o: $(B)/%.c $(B)/flags.stamp; $(COMPILE)

$(B)/embed/%_data.c: models/embed.sh $$(EMBED_$$*) $(B)/sources.stamp
	mkdir -p $(@D); models/embed.sh $* $(wildcard */$*_file.h */*/$*_file.h) $(EMBED_$*) > $@
$(B)/embed/rng_table.c: sim/base/rng_table.awk; mkdir -p $(@D); awk -f $< > $@

# A stamp is touched only when its text changes: with the flags, or the list of sources.
stamp = mkdir -p $(@D); printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
$(B)/flags.stamp: FORCE; $(call stamp,$(CC) $(subst $(CURDIR),,$(ALL)) $(LIBS))
$(B)/sources.stamp: FORCE
	$(call stamp,$(SRC) $(AIDS) $(foreach e,$(EMBEDS),$($(e))))
-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)
# The other builds, each in its folder: `make asan` or `make asan GOAL=unit`.  Sanitizers watch
# as well at -O1; -O0 compiles faster, and all tests take longer.  BUT: no fault is watched twice.
GOAL = all tests
WITH_asan  := CC=clang SAN=address,undefined,fuzzer-no-link CFLAGS="-O1 -gline-tables-only" \
              BUT=-fno-sanitize=null,object-size
WITH_tsan  := CC=clang SAN=thread CFLAGS="-O0 -gline-tables-only"
asan tsan:                      ## the same in build/asan or build/tsan
	+$(MAKE) --no-print-directory B=build/$@ $(WITH_$@) $(GOAL)
demo:                           ## install what is missing, build, run an experiment
	+tests/bootstrap.sh demo && $(MAKE) --no-print-directory -j2 all
	build/clustersim experiments/dpo_vs_static.yaml
	echo 'charts: out/dpo_vs_static/plots/*.png   report: out/dpo_vs_static/report.html'
test:; tests/bootstrap.sh test && tests/all.sh ## install what is missing, then all that CI checks
check: all; tests/check.sh $(B) ## the structural gates
house: all; tests/house.sh $(B) ## the shape of the tree in figures, beside their goals
fuzz:                           ## each fuzz harness for FUZZ_S seconds (20)
	+$(MAKE) --no-print-directory B=build/asan $(WITH_asan) fuzz-tests
	tests/fuzz.sh build/asan $(or $(FUZZ_S),20)
fuzz-tests: $(FUZZ)
faults: all; tests/faults.py $(B) --list --audit full ## plant faults where figures are made
mutants: all tests; tests/mutants.py $(B) $(MUTANTS) ## plant faults that a test should find
bench: all; $(B)/clustersim-bench ## the engine's own speed on this machine
validate: all; tests/validate.sh $(B) $(DATA) ## predict published measurements (DATA=DIR too)
claims: all; experiments/claims/run.sh $(B) ## put every claim to the test: out/claims/report.html
bless: all; tests/golden.sh $(B) --bless ## show how golden results changed, and store the new ones
pictures: all; tests/pictures.sh $(B) --draw ## draw gallery and tutorials again
weights: all                    ## train the learned policies again
	for w in learned:dpo advised:advised mixed:mixed hardware:hardware; do $(B)/clustersim train \
	    experiments/train_$${w%:*}.yaml -o policies/weights/$${w#*:}.yaml || exit; done
format:; clang-format -i $$(git ls-files '*.[ch]') ## lay the C code out with clang-format
clean-root:; tests/clean_root.sh ## both commands of the README in a new Debian root
install: all                    ## to PREFIX (/usr/local), below DESTDIR if set
	tests/install.sh "$(B)" "$(DESTDIR)" "$(PREFIX)" "$(VERSION)" "$(LIBS)"
deb: all; tests/debian/build.sh "$(B)" "$(VERSION)" "$(LIBS)" ## Debian packages: build/deb
uninstall:; tests/install.sh --remove "$(DESTDIR)$(PREFIX)" ## take that away again
dist:                           ## the last commit as build/clustersim-VERSION.tar.gz
	mkdir -p build && git archive --prefix=clustersim-$(VERSION)/ \
	    -o build/clustersim-$(VERSION).tar.gz HEAD && echo build/clustersim-$(VERSION).tar.gz
clean:; rm -rf build            ## remove build/
help:                           ## this list
	awk -F ':.*## ' '/^[a-z][a-z -]*:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile
	echo 'V=1 shows commands, WERROR= forgives warnings, B= CC= CFLAGS= SAN= make a variant'
