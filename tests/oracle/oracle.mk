# Truth for the allocator model: recordings of PyTorch's own history, and a slow twin written apart.
DIR ?= tests/golden/allocator
EVENTS ?= 10000000
ORACLE_PROGRAMS := $(O)/tests/test_allocator_twin $(O)/tests/replay_golden
ORACLE_PARTS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard analyzer/allocator_*.c) \
	analyzer/settings_grid.c analyzer/hash_map.c analyzer/xalloc.c analyzer/sizes.c \
	formats/status.c)
$(O)/tests/test_allocator_twin: $(O)/obj/tests/oracle/slow_allocator.o
$(O)/tests/replay_golden: $(O)/obj/tests/oracle/golden_reader.o
$(ORACLE_PROGRAMS): $(O)/tests/%: $(O)/obj/tests/oracle/%.o $(ORACLE_PARTS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $(filter %.o,$^) $(ZSTD_STATIC) -lm
$(O)/tests/replay_recording: $(O)/obj/tests/oracle/replay_recording.o $(ANALYZER_PARTS) $(FORMATS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -o $@ $(filter %.o,$^) $(PROGRAM_LIBS)
.PHONY: replay-golden twin
replay-golden: $(O)/tests/replay_golden ## replay recordings of PyTorch's allocator, DIR=FOLDER
	@$(O)/tests/replay_golden '$(DIR)'
twin: $(O)/tests/test_allocator_twin ## allocator model against its slow twin, EVENTS=10000000
	@$(O)/tests/test_allocator_twin --events $(EVENTS)
tests-build: $(ORACLE_PROGRAMS) $(O)/tests/replay_recording
