# The program with the kernels that nvcc makes (kernels.mk) and the static CUDA runtime, and the whole program on an emulated GPU:
# the same machine and kernels, compiled by g++ against tests/emulate, whose runtime stands where libcudart would.
#   make emulated                build/emulated/dnn
#   make emulated-test           tests/emulate/*.sh with it
#   make traffic-table           tests/traffic.table: bytes, launches and calls as they are now
whole = -Wl,--whole-archive $(1) -Wl,--no-whole-archive $(call archives_of,cli)

# what nvcc made, if it is there; a build with other kernels, or none, is another program
ifneq ($(KERNEL_LIB),)
$(PROGRAMS): LIBS += $(call whole,$(KERNEL_LIB)) -L$(CUDA_LIB) -lcudart_static -lrt $(if $(NVCC_SMALL),-Wl$(comma)--compress-debug-sections=zlib)
$(PROGRAMS): $(KERNEL_LIB)
all: $(BUILD)/kernels/table.txt
endif
$(PROGRAMS): $(BUILD)/kernels.used
$(BUILD)/kernels.used: FORCE
	@mkdir -p $(@D)
	$(if $(CUDA),@echo '$(CUDA)' >$(BUILD)/cuda)
	@echo '$(KERNEL_LIB) $(if $(KERNEL_LIB),$(NVCC) $(NVCC_ARCHS))' | cmp -s - $@ || echo '$(KERNEL_LIB) $(if $(KERNEL_LIB),$(NVCC) $(NVCC_ARCHS))' > $@

# what libraries loaded into the emulated program ask of its runtime
FOR_GUESTS := -Wl,--export-dynamic-symbol=cudaLaunchHostFunc
$(BUILD)/emulated/dnn: $(BUILD)/obj/main.o $(HOOKS) $(call archives_of,cli) $(BUILD)/emulate/plain/libemulate.a
	@mkdir -p $(@D)
	@echo "  LINK $@"
	$(Q)$(CXX) $(filter-out -std=c11,$(CFLAGS)) $(LDFLAGS) $(FOR_GUESTS) $< $(HOOKS) -Wl,--start-group $(call archives_of,cli) -Wl,--end-group \
	    $(call whole,$(BUILD)/emulate/plain/libemulate.a) $(LIBS) -o $@

ifeq ($(shell command -v $(CXX) 2>/dev/null),)
emulated emulated-test:
	@echo "1..0 # SKIP no C++ compiler ($(CXX)) for the emulated program"
else
# the stand-ins of cuBLASLt (test_guest has its products by day) and cuDNN, a benchmark of an emulated card, which tells no time, and the
# script for a real card: of a night alone
EMULATED_NIGHT := $(if $(filter yes,$(NIGHTLY)),,$(addprefix tests/emulate/,guest.sh guest_recur.sh bench.sh gpu_verify.sh))
emulated: $(BUILD)/emulated/dnn
emulated-test: emulated
	@printf '%s\n' $(filter-out $(EMULATED_NIGHT),$(sort $(wildcard tests/emulate/*.sh))) >$(BUILD)/emulated/list
	@DNN=$(abspath $(BUILD)/emulated/dnn) perl tests/run.pl $(BUILD)/emulated/list
emulate: emulated-test
# what kernels move, as it is now: after a change that is meant
traffic-table: emulated parity-emulated $(EMULATE_DIR)/shadow/test_traffic all
	$(Q)$(EMULATE_DIR)/shadow/test_traffic --print >$(BUILD)/traffic.table
	$(Q)DNN=$(abspath $(BUILD)/emulated/dnn) tests/emulate/traffic.sh --print >>$(BUILD)/traffic.table
	cp $(BUILD)/traffic.table tests/traffic.table
endif
.PHONY: emulated emulated-test traffic-table
