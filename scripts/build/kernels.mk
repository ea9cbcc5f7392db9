# Kernels: machine code with nvcc where it is found, and with g++ the emulator's tests of the same sources.
#   make                         build/dnn, with the kernels for the visible card (scripts/build/card.sh); none is visible: without
#   make release                 with the kernels for all cards (CUDA=all), compressed
#   make CUDA=1                  for the visible card; none is visible: for all cards. CUDA=0 and NVCC=: without. build/cuda keeps
#                                the last CUDA= of a build folder, so that `make install` installs what was built
#   make CUDA_ARCHS="80 90"      these architectures. 90a is for the kernels that have instructions of that card alone
#                                (KERNELS_90A), which have code for it only; for all others it is 90
#   make KERNEL_LINES=1          with the lines of the sources, for compute-sanitizer and profilers: three times as large
#   make kernels                 build/libkernels.a and build/kernels/table.txt (registers, shared bytes, spills)
#   make emulate                 every test of tests/emulate, under AddressSanitizer and under the shadow; SHAPES=1000: under the
#                                former with so many random shapes of every kind
#   make emulate-quick           its kernels alone, under the shadow: what every run of scripts/test.sh does, 35 s of one core
#   make emulate-mutants         kernels spoilt on purpose must be noticed; MUTANTS=20: so many of them, others each day
NVCC ?= $(firstword $(wildcard $(shell command -v nvcc 2>/dev/null) /usr/local/cuda/bin/nvcc))
CUDA_ALL := 75 80 86 89 90 90a 100 120

KERNELS := $(sort $(wildcard kernels/*.cu kernels/*/*.cu))
KERNELS_90A := product/gemm_wgmma

# --- nvcc: tried once a build folder; a sanitizer's build and the one in double precision have no kernels ----
NO_BUILD := clean help demo test full nightly bench check sanitize coverage uninstall emulate emulate-build emulate-quick emulate-mutants emulated \
            emulated-test release deb leads
comma := ,
nvcc_word   = $(patsubst $(1)=%,%,$(filter $(1)=%,$(NVCC_FOUND)))
ifneq ($(NVCC),)
ifeq ($(SANFLAGS)$(filter double,$(REAL)),)
ifneq ($(filter-out $(NO_BUILD),$(or $(MAKECMDGOALS),all)),)
# which cards: CUDA_ARCHS, else what CUDA= says, now or when this folder was built, else the visible card
ifeq ($(CUDA_ARCHS),)
CUDA_WISH := $(or $(CUDA),$(if $(filter kernels kernel-table,$(MAKECMDGOALS)),all),$(if $(filter parity gpu-constants,$(MAKECMDGOALS)),1), \
                  $(shell cat $(BUILD)/cuda 2>/dev/null))
CUDA_CARD := $(if $(filter 0 no all,$(CUDA_WISH)),,$(shell scripts/build/card.sh))
ifeq ($(filter 0 no,$(CUDA_WISH))$(CUDA_WISH)$(CUDA_CARD),)
$(info kernels: not built, since no GPU is visible; make CUDA=1 (or CUDA=1 scripts/demo.sh) builds them for all GPUs)
else ifeq ($(filter 0 no,$(CUDA_WISH)),)
CUDA_ARCHS := $(or $(filter-out unknown,$(CUDA_CARD)),$(CUDA_ALL))
endif
endif
ifneq ($(CUDA_ARCHS),)
NVCC_FOUND := $(shell scripts/build/nvcc.sh '$(NVCC)' $(BUILD)/nvcc)
endif
endif
endif
endif
NVCC_KNOWN := $(subst $(comma), ,$(call nvcc_word,archs))
CUDA_LIB   := $(call nvcc_word,lib)
# a card that is younger than this nvcc runs what is made for its elders
ifneq ($(CUDA_CARD),)
CUDA_ARCHS := $(or $(filter $(NVCC_KNOWN),$(CUDA_ARCHS)),$(CUDA_ALL))
$(info kernels: for the visible GPU (compute capability $(CUDA_CARD)); for all GPUs: make release)
endif
NVCC_ARCHS := $(filter $(NVCC_KNOWN),$(CUDA_ARCHS))
ifneq ($(NVCC_KNOWN),)
ifeq ($(NVCC_ARCHS),)
$(error CUDA_ARCHS=$(CUDA_ARCHS) names no architecture that this nvcc knows: $(NVCC_KNOWN). NVCC= builds without kernels)
endif
endif
# 90a stands for 90 in all other kernels: they would have 80's text alone for it, to be compiled at the first start. Each once
once        = $(if $(1),$(firstword $(1)) $(call once,$(filter-out $(firstword $(1)),$(1))))
NVCC_PLAIN := $(strip $(call once,$(patsubst %a,%,$(NVCC_ARCHS))))
# The front end makes one text for all cards from 80 on, and another for those from 100 on (the lines of PTX were compared): it
# runs once for each, and only ptxas once a card. The newest text is there for cards to come, 80's for those between
front_of    = $(or $(filter $(if $(filter 8% 9%,$(1)),80,$(if $(filter 1%,$(1)),100)),$(NVCC_KNOWN)),$(1))
NVCC_FRONTS := $(foreach a,$(NVCC_PLAIN),$(call front_of,$(a)))
NVCC_PTX   := $(sort $(lastword $(NVCC_FRONTS)) $(filter 80,$(NVCC_FRONTS)))
NVCC_CODE  := $(foreach a,$(NVCC_PLAIN),-gencode arch=compute_$(call front_of,$(a))$(comma)code=sm_$(a)) \
              $(foreach a,$(NVCC_PTX),-gencode arch=compute_$(a)$(comma)code=compute_$(a))
# the host pass takes C headers of the other floors as C++: a struct filled in by name leaves members out
NVCC_HOST := -fPIE,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-Wall,-Wextra,-Wno-missing-field-initializers
# code for several cards is compressed, each card's by itself: a start unpacks its own
NVCC_SMALL := $(if $(word 2,$(NVCC_PLAIN)),$(subst $(comma), ,$(call nvcc_word,small)))
NVCC_FLAGS = -std=c++17 -O3 -fmad=false $(if $(KERNEL_LINES),-lineinfo) -Isrc -Ikernels -Xcompiler $(NVCC_HOST) -Xptxas -v \
             $(if $(WERROR),-Werror all-warnings) $(NVCC_SMALL) $(NVCC_CODE)

KERNEL_OBJECTS := $(patsubst kernels/%.cu,$(BUILD)/kernels/%.o,$(KERNELS))

ifeq ($(NVCC_ARCHS),)
KERNEL_LIB :=
kernels kernel-table:
	@echo "1..0 # SKIP no nvcc that serves: no kernels are built"
else
KERNEL_LIB := $(BUILD)/libkernels.a
$(BUILD)/kernels/%.o: kernels/%.cu $(BUILD)/kernels/flags
	@mkdir -p $(@D)
	@echo "  NVCC $<"
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@ 2>$(@:.o=.ptxas) || { cat $(@:.o=.ptxas); rm -f $@; exit 1; }
	@grep -v -e '^ptxas info' -e '^ *[0-9]* bytes stack frame' $(@:.o=.ptxas) || true
ifneq ($(filter 90a,$(NVCC_ARCHS)),)
$(KERNELS_90A:%=$(BUILD)/kernels/%.o): NVCC_CODE := -gencode arch=compute_90a$(comma)code=sm_90a -DBUILT_FOR_90A
endif
$(BUILD)/libkernels.a: $(KERNEL_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^
$(BUILD)/kernels/table.txt: $(KERNEL_OBJECTS) scripts/build/ptxas_table.pl
	$(Q)perl scripts/build/ptxas_table.pl $(call nvcc_word,release) $(KERNEL_OBJECTS:.o=.ptxas) >$@
$(BUILD)/kernels/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(NVCC) $(NVCC_FLAGS) $(filter 90a,$(NVCC_ARCHS))' | cmp -s - $@ || echo '$(NVCC) $(NVCC_FLAGS) $(filter 90a,$(NVCC_ARCHS))' > $@
kernels: $(BUILD)/libkernels.a $(BUILD)/kernels/table.txt
# the table of the sources is that of the machine code; `make kernel-table` after a change that is meant
kernel-table: $(BUILD)/kernels/table.txt
	cp $< tests/kernels.table
endif

# --- the emulator: BUILD/emulate/KIND/NAME, KIND one of --------------------------------------------------------
#   asan     everything with AddressSanitizer and UndefinedBehaviorSanitizer
#   shadow   kernels call __tsan_read and __tsan_write at every access, and those are the emulator's own
#   plain    neither: its libemulate.a is for the whole program on an emulated device
EMULATE_KINDS   := asan shadow
EMULATE_ASAN    := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
EMULATE_FLAGS   := -std=c++17 -O1 -g1 -Wall -Wextra -Wno-missing-field-initializers $(if $(WERROR),-Werror) \
                   -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off -fno-strict-aliasing \
                   -Isrc -Ikernels -Itests -Itests/emulate -Itests/emulate/include
EMULATE_STRICT  := -Wpedantic -Wshadow -Wconversion -Wsign-conversion
kernel_asan     := $(EMULATE_ASAN)
kernel_shadow   := -fsanitize=thread
own_asan        := $(EMULATE_ASAN)
own_shadow      := -DEMULATE_SHADOW
EMULATE_TESTS   := $(sort $(wildcard tests/emulate/test_*.cc))
EMULATE_OWN     := $(filter-out $(EMULATE_TESTS) tests/emulate/harness.cc,$(sort $(wildcard tests/emulate/*.cc)))
EMULATE_DIR     := $(BUILD)/emulate
EMULATE_PROGRAMS := $(foreach k,$(EMULATE_KINDS),$(patsubst tests/emulate/%.cc,$(EMULATE_DIR)/$(k)/%,$(EMULATE_TESTS)))

define emulate_rules
$(EMULATE_DIR)/$(1)/obj/kernels/%.o: kernels/%.cu $(EMULATE_DIR)/flags
	@mkdir -p $$(@D)
	@echo "  G++  $$< ($(1))"
	$$(Q)$$(CXX) $$(EMULATE_FLAGS) $$(kernel_$(1)) -MMD -MP -x c++ -c $$< -o $$@
$(EMULATE_DIR)/$(1)/obj/test_%.o: tests/emulate/test_%.cc $(EMULATE_DIR)/flags
	@mkdir -p $$(@D)
	@echo "  G++  $$< ($(1))"
	$$(Q)$$(CXX) $$(EMULATE_FLAGS) $$(kernel_$(1)) -MMD -MP -c $$< -o $$@
$(EMULATE_DIR)/$(1)/obj/%.o: tests/emulate/%.cc $(EMULATE_DIR)/flags
	@mkdir -p $$(@D)
	@echo "  G++  $$< ($(1))"
	$$(Q)$$(CXX) $$(EMULATE_FLAGS) $$(EMULATE_STRICT) $$(own_$(1)) -MMD -MP -c $$< -o $$@
$(EMULATE_DIR)/$(1)/libemulate.a: $(patsubst tests/emulate/%.cc,$(EMULATE_DIR)/$(1)/obj/%.o,$(EMULATE_OWN)) $(patsubst %.cu,$(EMULATE_DIR)/$(1)/obj/%.o,$(KERNELS))
	@rm -f $$@
	$$(Q)$$(AR) rcsD $$@ $$^
$(EMULATE_DIR)/$(1)/test_%: $(EMULATE_DIR)/$(1)/obj/test_%.o $(EMULATE_DIR)/$(1)/obj/harness.o $(HOOKS) $(EMULATE_DIR)/$(1)/libemulate.a
	@echo "  LINK $$@"
	$$(Q)$$(CXX) $$(filter -fsanitize=address%,$$(own_$(1))) -Wl,--start-group $$^ -Wl,--end-group -lm -lpthread -ldl -o $$@
# operations are compared with the CPU's
$(EMULATE_DIR)/$(1)/test_ops $(EMULATE_DIR)/$(1)/test_mlp $(EMULATE_DIR)/$(1)/test_ending $(EMULATE_DIR)/$(1)/test_embed $(EMULATE_DIR)/$(1)/test_guest $(EMULATE_DIR)/$(1)/test_traffic $(EMULATE_DIR)/$(1)/test_large $(EMULATE_DIR)/$(1)/test_recur: $(BUILD)/libbackend.a $(BUILD)/libbase.a
endef
$(foreach k,$(EMULATE_KINDS) plain,$(eval $(call emulate_rules,$(k))))
.PRECIOUS: $(EMULATE_DIR)/%.o
$(EMULATE_DIR)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CXX) $(EMULATE_FLAGS)' | cmp -s - $@ || echo '$(CXX) $(EMULATE_FLAGS)' > $@

ifeq ($(shell command -v $(CXX) 2>/dev/null),)
emulate-build:
emulate emulate-quick:
	@echo "1..0 # SKIP no C++ compiler ($(CXX)) for the emulator"
else
emulate-build: $(EMULATE_PROGRAMS)
# emulate_run LIST: those programs, and then whether they started every kernel
EMULATE_SHADOW := $(filter $(EMULATE_DIR)/shadow/%,$(EMULATE_PROGRAMS))
# minutes of what a change of a kernel alone can spoil: of a night, or where more shapes are asked for. The shadow, which sees every
# access, has test_ops in every run; scripts/test.sh --full (NIGHTLY=no) leaves AddressSanitizer to the night
EMULATE_NIGHT  := $(if $(filter yes,$(NIGHTLY))$(SHAPES),,$(EMULATE_DIR)/asan/test_ops $(EMULATE_DIR)/shadow/test_traffic \
                      $(if $(filter no,$(NIGHTLY)),$(filter $(EMULATE_DIR)/asan/%,$(EMULATE_PROGRAMS))))
EMULATE_DAY    := $(filter-out $(EMULATE_NIGHT),$(EMULATE_SHADOW))
EMULATE_MANY   := $(if $(SHAPES),EMULATE_SHAPES=$(SHAPES) )
emulate_run = \
	@unset CUDA_VISIBLE_DEVICES; rm -f $(EMULATE_DIR)/ran; \
	EMULATE_RAN=$(abspath $(EMULATE_DIR))/ran perl tests/run.pl $(1); status=$$?; \
	echo 'EMULATE_RAN=$(EMULATE_DIR)/ran EMULATE_LIB=$(EMULATE_DIR)/shadow/libemulate.a tests/emulate/ran.pl' >$(EMULATE_DIR)/list.ran; \
	perl tests/run.pl $(EMULATE_DIR)/list.ran && exit $$status
# test_ops takes as long as all others: one half beside the other
EMULATE_HALVES := $(foreach i,0 1,'OPS_SHARE=$(i)/2 $(EMULATE_DIR)/shadow/test_ops')
emulate: $(filter-out $(EMULATE_NIGHT),$(EMULATE_PROGRAMS))
	@printf '%s\n' $(EMULATE_HALVES) tests/emulate/dialect.pl $(filter-out %/test_ops,$(EMULATE_DAY)) >$(EMULATE_DIR)/list
	@printf '$(EMULATE_MANY)%s\n' $(filter-out $(EMULATE_SHADOW) $(EMULATE_NIGHT),$(EMULATE_PROGRAMS)) >>$(EMULATE_DIR)/list
	$(call emulate_run,$(EMULATE_DIR)/list)
emulate-quick: $(EMULATE_SHADOW)
	@printf '%s\n' $(EMULATE_HALVES) $(filter-out %/test_ops,$(EMULATE_DAY)) tests/emulate/dialect.pl >$(EMULATE_DIR)/list.quick
	$(call emulate_run,$(EMULATE_DIR)/list.quick)
endif
# each kernel spoilt in one place, and noticed
emulate-mutants: $(EMULATE_SHADOW)
	@printf '%s\n' '#!/bin/sh' "exec perl tests/emulate/mutants.pl $(EMULATE_DIR)/shadow $(CXX) $(EMULATE_FLAGS) $(kernel_shadow)" \
	    >$(EMULATE_DIR)/mutants && chmod +x $(EMULATE_DIR)/mutants
	@echo $(EMULATE_DIR)/mutants >$(EMULATE_DIR)/list.mutants
	@VERBOSE=1 perl tests/run.pl $(EMULATE_DIR)/list.mutants
.PHONY: kernels kernel-table emulate emulate-build emulate-quick emulate-mutants
