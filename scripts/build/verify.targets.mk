# What scripts/gpu_verify.sh runs, and its twin on the emulated runtime.
#   make parity         build/parity/gpu: the device against the CPU (tests/parity), with nvcc's kernels
#   make gpu-constants  build/gpu_constants: what this card's launches, barriers, copies and products cost
#   make parity-emulated   build/parity/emulated: the same program on the emulated GPU
PARITY_OBJECTS := $(patsubst tests/parity/%.c,$(BUILD)/parity/%.o,$(sort $(wildcard tests/parity/*.c))) $(HOOKS)
$(BUILD)/parity/%.o: tests/parity/%.c tests/parity/parity.h tests/netcase.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests -Itests/parity $(TESTFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/parity/gpu: $(PARITY_OBJECTS) $(call archives_of,cli) $(BUILD)/libkernels.a
	@echo "  LINK $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(PARITY_OBJECTS) -Wl,--start-group $(call archives_of,cli) -Wl,--end-group \
	    $(call whole,$(BUILD)/libkernels.a) $(LIBS) -L$(CUDA_LIB) -lcudart_static -lrt -o $@
$(BUILD)/parity/emulated: $(PARITY_OBJECTS) $(call archives_of,cli) $(BUILD)/emulate/plain/libemulate.a
	@echo "  LINK $@"
	$(Q)$(CXX) $(filter-out -std=c11,$(CFLAGS)) $(LDFLAGS) $(FOR_GUESTS) $(PARITY_OBJECTS) -Wl,--start-group $(call archives_of,cli) -Wl,--end-group \
	    $(call whole,$(BUILD)/emulate/plain/libemulate.a) $(LIBS) -o $@
CONSTANTS_CU := $(addprefix tests/bench/gpu_,constants.cu launches.cu products.cu)
# some of them have instructions of the newer cards alone
$(BUILD)/gpu_constants: private NVCC_CODE := $(foreach a,$(NVCC_PLAIN),-gencode arch=compute_$(a)$(comma)code=sm_$(a))
$(BUILD)/gpu_constants: $(CONSTANTS_CU) tests/bench/gpu_constants.cuh $(call archives_of,cli) $(BUILD)/libkernels.a
	@echo "  NVCC $<"
	$(Q)$(NVCC) $(filter-out -Xptxas -v,$(NVCC_FLAGS)) -Itests/bench -o $@ $(CONSTANTS_CU) -Xlinker --whole-archive,$(BUILD)/libkernels.a,--no-whole-archive \
	    -Xlinker --start-group $(call archives_of,cli) -Xlinker --end-group $(LIBS) -L$(CUDA_LIB) -lcudart_static -lrt
parity: $(BUILD)/parity/gpu
parity-emulated: $(BUILD)/parity/emulated
gpu-constants: $(BUILD)/gpu_constants
.PHONY: parity parity-emulated gpu-constants
# tests/emulate/parity.sh
ifneq ($(shell command -v $(CXX) 2>/dev/null),)
emulated-test: parity-emulated
endif
