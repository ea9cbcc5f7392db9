# bench_csv: how fast a CSV file becomes a table (tests/bench/bench_csv.c)
$(BUILD)/bench/bench_csv: tests/bench/bench_csv.c $(call archives_of,table)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	$(Q)$(CC) $(CPPFLAGS) $(TESTFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< -Wl,--start-group $(call archives_of,table) -Wl,--end-group $(LIBS) -o $@
