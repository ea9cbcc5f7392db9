# dnn - one C binary that trains and applies deep networks from CSV files. `make help` lists the targets.
#   make              build/dnn, with kernels for the visible GPU where nvcc is found (CUDA=1 also without a GPU, CUDA=0 never)
#   make release      with kernels for all GPUs (CUDA_ARCHS="80 90": these)
#   make test | full  the tests; make demo | bench | fuzz | sanitize | coverage | check
#   make install PREFIX=/usr/local DESTDIR= | deb
# BUILD=dir keeps several builds apart (sanitizers, the double-precision gradient build).

.DEFAULT_GOAL := all
BUILD   ?= build
CC      ?= gcc
CXX     ?= g++
PREFIX  ?= /usr/local
VERSION := 0.1.0
# settings of one's own checkout, e.g. CUDA_ARCHS := 90 or NVCC :=
LOCAL := local.mk
-include $(LOCAL)

# bottom up: a room sees those that stand before it, as scripts/check_floors.sh says room by room
FLOORS  := base csv table infer backend model measure config choose answer train check cli
include scripts/build/flags.mk

# --- objects: one archive a floor, so that a test links only what stands below it -------------------------
src_of   = $(sort $(wildcard src/$(1)/*.c src/$(1)/*/*.c))
obj_of   = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(call src_of,$(1)))
ARCHIVES := $(foreach f,$(FLOORS),$(BUILD)/lib$(f).a)
# an archive links against those below it: listed from the top down
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
upto = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
$(foreach f,$(FLOORS),$(eval below_$(f) := $(call reverse,$(call upto,$(f),$(FLOORS)))))
archives_of    = $(foreach f,$(below_$(1)),$(BUILD)/lib$(f).a)

all: $(BUILD)/dnn

define floor_rule
$(BUILD)/lib$(1).a: $(call obj_of,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	$(Q)$(AR) rcsD $$@ $$^
endef
$(foreach f,$(FLOORS),$(eval $(call floor_rule,$(f))))

$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(flags_$(subst /,_,$*)) -MMD -MP -c $< -o $@

# The test hooks of base/fault.h are in build/testing/dnn, in every test program, and in a sanitizer's build. build/dnn has none.
HOOKS := $(BUILD)/hooks.o
$(HOOKS): tests/hooks/hooks.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
PROGRAMS := $(BUILD)/dnn $(BUILD)/testing/dnn
$(BUILD)/testing/dnn $(if $(SANFLAGS),$(BUILD)/dnn): $(HOOKS)
$(PROGRAMS): $(BUILD)/obj/main.o $(call archives_of,cli)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(filter $(HOOKS),$^) -Wl,--start-group $(call archives_of,cli) -Wl,--end-group $(LIBS) -o $@
testing: $(BUILD)/testing/dnn

# flags are a file, so that a change of them rebuilds
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)' > $@
FORCE:

# --- tests: tests/unit/ROOM_name.c links ROOM and everything below it ------------------------------------
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/*.c)))
# tests of answers train a model first, tests of training also check and inspect it
unit_floor = $(patsubst answer,check,$(patsubst train,check,$(firstword $(subst _, ,$(notdir $(1))))))
.SECONDEXPANSION:
$(BUILD)/unit/%: tests/unit/%.c tests/tap.h $(HOOKS) $$(call archives_of,$$(call unit_floor,$$*))
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(CPPFLAGS) -Itests $(TESTFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $(HOOKS) -Wl,--start-group $(call archives_of,$(call unit_floor,$*)) -Wl,--end-group $(LIBS) -o $@
# what the unit and shell tests need
units: $(UNITS) $(if $(SANFLAGS),,$(BUILD)/testing/dnn)

include scripts/build/kernels.mk
include $(wildcard scripts/build/*.targets.mk)

clean:
	rm -rf $(BUILD)
help:
	@sed -n '2,7p' Makefile

.PHONY: all units testing clean help FORCE
-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)
