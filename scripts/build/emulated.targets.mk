# The whole program on an emulated GPU: the real machine and kernels, compiled by g++ against tests/emulate, whose runtime stands
# where libcudart would. Its device is called "emulated".
#   make emulated                build/emulated/dnn
$(BUILD)/emulated/dnn: $(BUILD)/obj/main.o $(call archives_of,cli) $(BUILD)/emulate/plain/libemulate.a
	@mkdir -p $(@D)
	@echo "  LINK $@"
	$(Q)$(CXX) $(filter-out -std=c11,$(CFLAGS)) $(LDFLAGS) $< -Wl,--start-group $(call archives_of,cli) -Wl,--end-group \
	    -Wl,--whole-archive $(BUILD)/emulate/plain/libemulate.a -Wl,--no-whole-archive $(call archives_of,cli) $(LIBS) -o $@
emulated: $(BUILD)/emulated/dnn
.PHONY: emulated
