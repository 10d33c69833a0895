# libgpushim: see README.md; `make help` lists the targets.
#
#   O=DIR       where everything is built (build)        V=1       show commands
#   CC=clang    another compiler                         WERROR=1  warnings are errors
#   SAN=address,undefined   sanitizers (use another O=)  PREFIX=, DESTDIR=  for install
#   TORCH=2.15.0   PyTorch release of `make torch`       PYTHON=python3  interpreter for it

O ?= build
PREFIX ?= /usr/local
TORCH ?= 2.15.0
PYTHON ?= python3
ifeq ($(origin CC),default)          # CC has a built-in default: ?= would never set it
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
VERSION := $(shell sed -n 's/^\#define GA_VERSION "\(.*\)"/\1/p' analyzer/version.h 2>/dev/null)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:                          # else make deletes test objects and loses their .d
.PHONY: missing-majors all help lib tool dryrun headers torch demo check bench matrix check-gpu install clean \
	reconfigure format fuzz packages FORCE
FORCE:

say = $(if $(V),,@printf '  %-7s %s\n' '$1' '$(2:$(O)/%=%)';)

# ---- what this machine has (scripts/probe.sh), found once -------------------------------------
NO_CONFIG := help clean packages headers
ifneq ($(filter-out $(NO_CONFIG),$(or $(MAKECMDGOALS),all)),)
-include $(O)/config.mk
endif
$(O)/config.mk: scripts/probe.sh
	@mkdir -p $(@D)
	$(call say,PROBE,$@)CC='$(CC)' sh $< > $@.tmp && mv $@.tmp $@
reconfigure: ## probe the machine again
	@rm -f $(O)/config.mk && $(MAKE) --no-print-directory $(O)/config.mk

# ---- flags --------------------------------------------------------------------------------------
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wwrite-strings -Wundef -Wno-unused-parameter $(if $(WERROR),-Werror)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ALL_FLAGS := -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) $(CFLAGS) $(SANITIZE)
PIC_FLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions

$(O)/flags: FORCE                    # objects depend on the flags, not only on the sources
	@mkdir -p $(@D); echo '$(CC) $(ALL_FLAGS) $(CUDA_FLAGS)' | cmp -s - $@ || \
	    echo '$(CC) $(ALL_FLAGS) $(CUDA_FLAGS)' > $@

$(O)/obj/%.o: %.c $(O)/flags $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_FLAGS) -MMD -MP -c -o $@ $<
$(O)/pic/%.o: %.c $(O)/flags $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_FLAGS) $(PIC_FLAGS) -MMD -MP -c -o $@ $<
$(O)/pic/%.o: %.S $(O)/flags $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(ALL_FLAGS) $(PIC_FLAGS) -MMD -MP -c -o $@ $<
-include $(shell find $(O) -name '*.d' 2>/dev/null)

# ---- formats: the writing set goes into the shim, everything into the program ------------------
FORMATS_WRITER := status records held_file journal record_gather column_encode frame_encode
FORMATS_PIC := $(FORMATS_WRITER:%=$(O)/pic/formats/%.o)
FORMATS_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard formats/*.c))
# Loops over whole columns: vectorised.
$(foreach part,column_encode column_decode record_gather,$(O)/obj/formats/$(part).o \
    $(O)/pic/formats/$(part).o): private ALL_FLAGS += -O3

# ---- libgpushim.so -------------------------------------------------------------------------------
SHIM_OBJ := $(patsubst %,$(O)/pic/%.o,$(basename $(wildcard shim/*.c shim/*.S)))
$(O)/pic/shim/hook_check.o: private ALL_FLAGS += $(CUDA_FLAGS)
$(O)/pic/shim/properties.o: private ALL_FLAGS += $(if $(VERSION),-DGS_VERSION='"$(VERSION)"')
$(O)/lib/libgpushim.so: $(SHIM_OBJ) $(FORMATS_PIC) shim/libgpushim.map
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -shared $(if $(SAN),,-Wl,-z,defs) -Wl,-soname,libgpushim.so \
	    -Wl,--exclude-libs,ALL -Wl,--version-script,shim/libgpushim.map -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete \
	    -o $@ $(SHIM_OBJ) $(FORMATS_PIC) $(ZSTD_STATIC) -ldl -lpthread

# ---- the gpushim program ----------------------------------------------------------------------------
ANALYZER_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard analyzer/*.c))
ANALYZER_PARTS := $(filter-out $(O)/obj/analyzer/main.o,$(ANALYZER_OBJ))
PROGRAM_LIBS := $(ZSTD_STATIC) $(SQLITE_LIBS) $(LIBDW_LIBS) -lm -ldl -lpthread
$(O)/obj/analyzer/elf_symbols.o: ALL_FLAGS += $(LIBDW_FLAGS)
$(O)/bin/gpushim: $(ANALYZER_OBJ) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -rdynamic -o $@ $(ANALYZER_OBJ) $(FORMATS_OBJ) $(PROGRAM_LIBS)

# ---- the stand-in GPU: its rules and the list of its libraries ($(DRYRUN_FILES)) ----------------------
-include shim/dryrun/dryrun.mk

lib: $(O)/lib/libgpushim.so          ## the preload library
tool: $(O)/bin/gpushim               ## the gpushim program
dryrun: $(DRYRUN_FILES)              ## the stand-in GPU (needs CUDA headers: make headers)
all: lib tool dryrun                 ## everything that this machine can build (default)

# ---- set-up ---------------------------------------------------------------------------------------------
packages: ## install missing system packages (as root), or name them in one command
	@sh scripts/packages.sh
headers: ## fetch CUDA and CUPTI headers (pip wheels) into the cache
	@sh scripts/headers.sh
torch: ## build/torch: a virtual environment with the official CUDA PyTorch, as small as possible
	@O='$(O)' TORCH='$(TORCH)' PYTHON='$(PYTHON)' sh scripts/torch.sh
demo: ## install what is missing, build, record a real PyTorch training on the stand-in GPU, report
	@O='$(O)' TORCH='$(TORCH)' PYTHON='$(PYTHON)' MAKE='$(MAKE)' sh scripts/demo.sh

# ---- tests ----------------------------------------------------------------------------------------------
# A unit test is one file; it is linked with the program's parts, or with the shim's objects when
# its name begins with test_shim_.
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/%,$(wildcard tests/unit/test_*.c))
SHIM_TEST_OBJ := $(filter-out $(O)/pic/shim/dlsym.o,$(SHIM_OBJ))
TEST_PARTS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard tests/*.c)) # helpers of tests: trace_builder
$(O)/tests/test_shim_%: $(O)/obj/tests/unit/test_shim_%.o $(SHIM_OBJ) $(TEST_PARTS) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $< $(SHIM_TEST_OBJ) $(TEST_PARTS) $(FORMATS_OBJ) $(PROGRAM_LIBS)
$(O)/tests/test_%: $(O)/obj/tests/unit/test_%.o $(TEST_PARTS) $(ANALYZER_PARTS) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $< $(TEST_PARTS) $(ANALYZER_PARTS) $(FORMATS_OBJ) $(PROGRAM_LIBS)
FUZZ_TESTS := $(patsubst tests/fuzz/%.c,$(O)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
$(O)/tests/fuzz_%: $(O)/obj/tests/fuzz/fuzz_%.o $(O)/obj/tests/fuzz/driver.o $(ANALYZER_PARTS) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $< $(O)/obj/tests/fuzz/driver.o $(ANALYZER_PARTS) \
	    $(FORMATS_OBJ) $(PROGRAM_LIBS)
BENCH := $(patsubst tests/bench/%.c,$(O)/tests/%,$(wildcard tests/bench/bench_*.c))
$(O)/tests/bench_%: $(O)/obj/tests/bench/bench_%.o $(TEST_PARTS) $(ANALYZER_PARTS) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $< $(TEST_PARTS) $(ANALYZER_PARTS) $(FORMATS_OBJ) $(PROGRAM_LIBS)
# Truth for the allocator model.
-include tests/oracle/oracle.mk
# Call stacks under every interpreter.
-include tests/stacks/stacks.mk
# Traces for the tests of the command line.
$(O)/tests/cli_samples: $(O)/obj/tests/cli/cli_samples.o $(TEST_PARTS) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $< $(TEST_PARTS) $(FORMATS_OBJ) $(PROGRAM_LIBS)
# Small programs that integration tests run: tests/integration/NAME.c becomes $(O)/tests/NAME.
HOSTS := $(patsubst tests/integration/%.c,$(O)/tests/%,$(wildcard tests/integration/*.c))
$(HOSTS): $(O)/tests/%: tests/integration/%.c $(O)/flags $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_FLAGS) $(CUDA_FLAGS) -MMD -MP -o $@ $< -ldl -lpthread
.PHONY: unit integration
unit: $(UNIT_TESTS) $(FUZZ_TESTS) $(GD_TESTS) ## unit tests and fuzz corpora only
	@sh scripts/run-tests.sh '$(O)' unit $(UNIT_TESTS) $(FUZZ_TESTS) $(GD_TESTS)
check: ## build everything, install what is missing, run all tests
	@O='$(O)' TORCH='$(TORCH)' PYTHON='$(PYTHON)' MAKE='$(MAKE)' sh scripts/check.sh
bench: all $(BENCH) $(HOSTS) ## costs and sizes, each with its spread
	@O='$(O)' sh scripts/bench.sh
matrix: all torch ## programs people train, each recorded and checked against PyTorch's statistics (ONLY=WORDS)
	@O='$(O)' sh scripts/matrix.sh
check-gpu: all $(HOSTS) $(GD_TESTS) ## the checks that need a real GPU (says so and passes where there is none)
	@O='$(O)' sh scripts/check-gpu.sh || [ $$? = 77 ]
fuzz: ## fuzz the reader with libFuzzer (needs clang); SECONDS_EACH=60
	@O='$(O)' sh scripts/fuzz.sh
tests-build: $(UNIT_TESTS) $(FUZZ_TESTS) $(GD_TESTS) $(HOSTS) $(O)/tests/cli_samples

# ---- installation -----------------------------------------------------------------------------------------
install: all $(O)/gpushim.1 ## install under $(DESTDIR)$(PREFIX)
	@O='$(O)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh scripts/install.sh
$(O)/gpushim.1: $(O)/bin/gpushim
	$(call say,MAN,$@)$(O)/bin/gpushim help --man > $@
format: ## clang-format every source
	clang-format -i $$(git ls-files '*.c' '*.h')
clean: ## remove what was built
	rm -rf $(O)
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | sort | \
	    awk -F'|' '{ printf "  %-14s%s\n", $$1, $$2 }'
