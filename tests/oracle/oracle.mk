# Truth for the allocator model: golden recordings of PyTorch, and a slow twin written apart.
DIR ?= ../shared/golden/replay
ORACLE_TESTS := $(O)/tests/test_allocator_twin $(O)/tests/test_allocator_golden
ORACLE_PARTS := $(patsubst %,$(O)/obj/analyzer/%.o,$(basename $(notdir $(wildcard \
	analyzer/allocator_*.c))) hash_map xalloc sizes) $(O)/obj/formats/status.o
$(O)/tests/test_allocator_twin: $(O)/obj/tests/oracle/test_allocator_twin.o \
	$(O)/obj/tests/oracle/slow_allocator.o $(ORACLE_PARTS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $^ -lm
$(O)/tests/test_allocator_golden: $(O)/obj/tests/oracle/test_allocator_golden.o \
	$(O)/obj/tests/oracle/golden_reader.o $(ORACLE_PARTS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $^ $(ZSTD_STATIC) -lm
$(O)/tests/replay_golden: $(O)/obj/tests/oracle/replay_golden.o \
	$(O)/obj/tests/oracle/golden_reader.o $(ORACLE_PARTS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $^ $(ZSTD_STATIC) -lm
.PHONY: replay-golden twin
replay-golden: $(O)/tests/replay_golden ## replay recordings of PyTorch's allocator (DIR=FOLDER)
	@$(O)/tests/replay_golden '$(DIR)'
EVENTS ?= 10000000
twin: $(O)/tests/test_allocator_twin ## allocator model against its slow twin (EVENTS=10000000)
	@$(O)/tests/test_allocator_twin --events $(EVENTS)
tests-build: $(ORACLE_TESTS)
