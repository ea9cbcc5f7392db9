# The test of power loss records the calls below base/file: the linker puts its own in front of them.
$(BUILD)/unit/train_power: private TESTFLAGS += $(foreach f,open write fsync rename unlink close,-Wl,--wrap=sys_$(f))
