# The stack machinery as a library for interpreters (tests/stacks/stack_probe.c): no recorder in it.
STACK_PARTS := safe_read python_layout python_stack python_code intern_table library_map libunwind \
	unwind_rules native_unwind native_stack call_stack
STACK_PROBE_OBJ := $(O)/pic/tests/stacks/stack_probe.o $(STACK_PARTS:%=$(O)/pic/shim/%.o) \
	$(O)/pic/analyzer/python_lines.o
$(O)/tests/stack_probe.so: $(STACK_PROBE_OBJ) tests/stacks/stacks.mk
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -shared -Wl,-z,defs -o $@ $(STACK_PROBE_OBJ) -ldl -lpthread
# As on C libraries before 2.35: preloaded, it hides the function that finds a library by an address.
$(O)/tests/old_c_library.so: tests/stacks/old_c_library.S
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared -nostdlib -o $@ $<
tests-build: $(O)/tests/stack_probe.so $(O)/tests/old_c_library.so
bench: $(O)/tests/stack_probe.so
