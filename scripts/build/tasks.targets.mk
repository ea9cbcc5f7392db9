# Tasks: what one does with the build.
#   make demo test full nightly bench sanitize coverage install

demo:
	scripts/demo.sh
test:
	scripts/test.sh
full:
	scripts/test.sh --full
nightly:
	scripts/test.sh --nightly
bench:
	scripts/bench.sh
check:
	scripts/check_floors.sh && scripts/check_style.sh && scripts/check_catalogue.sh
sanitize:
	$(MAKE) BUILD=build/asan SAN=address OPT='-O1 -g' all units
	for t in build/asan/unit/*; do [ ! -x "$$t" ] || "$$t" || exit 1; done

# The pages of `dnn help TOPIC`: src/cli/pages/NAME.txt becomes one C string each.
PAGES := $(sort $(wildcard src/cli/pages/*.txt))
$(BUILD)/gen/cli/pages.inc: $(PAGES) src/cli/pages
	@mkdir -p $(@D)
	$(Q)for f in $(PAGES); do sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$$f"; echo ,; done >$@
flags_cli_help_topic := -I$(BUILD)/gen -Wno-overlength-strings
$(BUILD)/obj/cli/help_topic.o: $(BUILD)/gen/cli/pages.inc

# The manual page, printed by a program of its own from the tables of the commands.
$(BUILD)/man: $(BUILD)/obj/man.o $(call archives_of,cli)
	@echo "  LINK $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< -Wl,--start-group $(call archives_of,cli) -Wl,--end-group $(LIBS) -o $@
units: $(BUILD)/dnn.1
$(BUILD)/dnn.1: $(BUILD)/man
	$(Q)$< >$@

# A binary of one's own name, mode and folder; DESTDIR for packagers.
install: all $(BUILD)/dnn.1
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/bash-completion/completions' \
	  '$(DESTDIR)$(PREFIX)/share/zsh/site-functions' '$(DESTDIR)$(PREFIX)/share/doc/dnn' '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m 755 $(BUILD)/dnn '$(DESTDIR)$(PREFIX)/bin/dnn'
	$(BUILD)/dnn completion bash > '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/dnn'
	$(BUILD)/dnn completion zsh > '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dnn'
	install -m 644 $(BUILD)/dnn.1 '$(DESTDIR)$(PREFIX)/share/man/man1/dnn.1'
	install -m 644 README.md '$(DESTDIR)$(PREFIX)/share/doc/dnn/README.md'
uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/dnn' '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/dnn' \
	  '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dnn' '$(DESTDIR)$(PREFIX)/share/doc/dnn/README.md' \
	  '$(DESTDIR)$(PREFIX)/share/man/man1/dnn.1'

# Lines and branches that the unit and shell tests reach (gcov, no other tool).
coverage:
	$(MAKE) BUILD=build/cov OPT='-O0 -g' EXTRA_CFLAGS='--coverage' all units
	-find build/cov -name '*.gcda' -delete
	for t in build/cov/unit/*; do [ ! -x "$$t" ] || "$$t" >/dev/null 2>&1; done; \
	for t in tests/golden/*.sh tests/robust/*.sh tests/learn/*.sh; do DNN=$$PWD/build/cov/dnn $$t >/dev/null 2>&1; done; \
	scripts/coverage.sh build/cov

.PHONY: demo test full nightly bench check sanitize install uninstall coverage
