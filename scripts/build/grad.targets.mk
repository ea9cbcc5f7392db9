# Gradient tests: tests/grad/NAME.c against the model floor, in double precision.
#   make BUILD=build/double REAL=double grads
GRADS := $(patsubst tests/grad/%.c,$(BUILD)/grad/%,$(sort $(wildcard tests/grad/*.c)))
$(BUILD)/grad/%: tests/grad/%.c tests/grad/grad.h tests/netcase.h tests/tap.h $(HOOKS) $(call archives_of,model)
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(CPPFLAGS) -Itests $(TESTFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $(HOOKS) -Wl,--start-group \
	    $(call archives_of,model) -Wl,--end-group $(LIBS) -o $@
grads: $(GRADS)
.PHONY: grads
