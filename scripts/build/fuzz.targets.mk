# Fuzz targets: clang's libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer. cJSON, libcsv and utf8proc are compiled in from pinned
# sources (tests/fuzz/sources.sh), since a packaged .so gives the fuzzer no coverage; where the sources cannot be had the
# packaged libraries serve and the run says so.
#   make fuzz [FUZZ_SECONDS=600]      every target in turn, corpora in tests/fuzz/corpus are read, finds stay in build/fuzz
FUZZ_SECONDS ?= 600
FUZZ_CC      ?= clang
FUZZ_DIR     := $(BUILD)/fuzz
FUZZ_FLAGS   := -std=c11 -O1 -g1 -Isrc -D_GNU_SOURCE -DDNN_VERSION='"$(VERSION)"' -fsanitize=fuzzer-no-link,address,undefined \
                -fno-sanitize-recover=all -fno-omit-frame-pointer -ffp-contract=off -w
FUZZ_SOURCES := $(foreach f,base csv table backend model,$(call src_of,$(f))) src/train/run/checkpoint.c
FUZZ_LIBS    := $(wildcard $(BUILD)/sources/cjson-*/cJSON.c $(BUILD)/sources/libcsv-*/libcsv.c $(BUILD)/sources/utf8proc-*/utf8proc.c)
FUZZ_OBJECTS := $(patsubst src/%.c,$(FUZZ_DIR)/obj/%.o,$(FUZZ_SOURCES)) $(patsubst %.c,$(FUZZ_DIR)/lib/%.o,$(notdir $(FUZZ_LIBS)))
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(FUZZ_DIR)/%,$(wildcard tests/fuzz/fuzz_*.c))
vpath %.c $(dir $(FUZZ_LIBS))

$(FUZZ_DIR)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) $(filter -m%,$(flags_$(subst /,_,$*))) -MMD -MP -c $< -o $@
# vector code sees shapes that were checked, and takes a third of the time to build with sanitizers
$(FUZZ_DIR)/obj/backend/cpu/vec_%.o: FUZZ_FLAGS := $(filter-out -fsanitize=%,$(FUZZ_FLAGS))
$(FUZZ_DIR)/lib/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -c $< -o $@
$(FUZZ_DIR)/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_OBJECTS)
	@echo "  FUZZ $@"
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined -Itests $< $(FUZZ_OBJECTS) \
	  $(if $(filter %cJSON.c,$(FUZZ_LIBS)),,-lcjson) $(if $(filter %libcsv.c,$(FUZZ_LIBS)),,-lcsv) $(if $(filter %utf8proc.c,$(FUZZ_LIBS)),,-lutf8proc) -lm -lpthread -ldl -o $@
fuzz-build: $(FUZZ_TARGETS)
fuzz:
	tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
.SECONDARY: $(FUZZ_OBJECTS)
# by day, without clang: the inputs of the corpora and changes of them, with the sanitizers of this build
#   make BUILD=build/asan SAN=address replays
REPLAYS := $(patsubst tests/fuzz/%.c,$(BUILD)/replay/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
$(BUILD)/replay/%: tests/fuzz/%.c tests/fuzz/replay.c tests/tap.h $(HOOKS) $(call archives_of,train)
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(CPPFLAGS) -Itests $(TESTFLAGS) $(CFLAGS) $(LDFLAGS) $< tests/fuzz/replay.c $(HOOKS) -Wl,--start-group \
	    $(call archives_of,train) -Wl,--end-group $(LIBS) -o $@
replays: $(REPLAYS)
.PHONY: fuzz fuzz-build replays
