# The stack machinery as a library for interpreters (tests/stacks/stack_probe.c): no recorder in it.
STACK_PARTS := safe_read python_layout python_stack python_code intern_table library_map libunwind \
	unwind_rules native_unwind native_stack call_stack
STACK_PROBE_OBJ := $(O)/pic/tests/stacks/stack_probe.o $(STACK_PARTS:%=$(O)/pic/shim/%.o) \
	$(O)/pic/analyzer/python_lines.o
$(O)/tests/stack_probe.so: $(STACK_PROBE_OBJ) tests/stacks/stacks.mk
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -shared -Wl,-z,defs -o $@ $(STACK_PROBE_OBJ) -ldl -lpthread
tests-build: $(O)/tests/stack_probe.so
bench: $(O)/tests/stack_probe.so
