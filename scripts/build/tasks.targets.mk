# Tasks: what one does with the build.
#   make demo test full nightly bench sanitize coverage release leads install deb

# the program for all cards, as it is handed on; install and deb then take it
release:
	$(MAKE) CUDA=all all
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
	$(MAKE) BUILD=build/asan SAN=address OPT='-O1 -g1' all units
	for t in build/asan/unit/*; do [ ! -x "$$t" ] || "$$t" || exit 1; done

# The pages of `dnn help TOPIC`: src/cli/pages/NAME.txt becomes one C string each.
PAGES := $(sort $(wildcard src/cli/pages/*.txt))
$(BUILD)/gen/cli/pages.inc: $(PAGES) src/cli/pages
	@mkdir -p $(@D)
	$(Q)for f in $(PAGES); do sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$$f"; echo ,; done >$@
flags_cli_help_topic := -I$(BUILD)/gen -Wno-overlength-strings
$(BUILD)/obj/cli/help_topic.o: $(BUILD)/gen/cli/pages.inc

# The manual pages, written by a program of its own from the tables of the commands.
$(BUILD)/man: $(BUILD)/obj/man.o $(call archives_of,cli)
	@echo "  LINK $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< -Wl,--start-group $(call archives_of,cli) -Wl,--end-group $(LIBS) -o $@
units: $(BUILD)/man1/dnn.1
$(BUILD)/man1/dnn.1: $(BUILD)/man
	@rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$< $(@D)

# The files of the examples, in build/leads: README and help name them so.
LEADS := $(BUILD)/leads/leads.json
leads: $(LEADS)
$(LEADS): scripts/data/make_leads.awk configs/leads.json
	@mkdir -p $(@D)
	awk -v rows=2000 -f $< >$(@D)/leads.csv
	awk -v rows=500 -v seed=5 -f $< >$(@D)/test.csv
	awk -v rows=100 -v seed=2 -v bare=1 -f $< >$(@D)/new.csv
	cp configs/leads.json $(@D)/leads.json

# A binary of one's own name, mode and folder; DESTDIR for packagers. share/dnn: configs, their data, examples, Spark's module, leads; and
# below scripts/ what help pages name there. UNITDIR: where systemd looks, for PREFIX /usr and /usr/local. Nothing follows the umask.
ZSHDIR = $(PREFIX)/share/zsh/site-functions
UNITDIR = $(PREFIX)/lib/systemd/system
share  = $(DESTDIR)$(PREFIX)/share
install: all $(BUILD)/man1/dnn.1 $(LEADS)
	umask 022 && install -d '$(DESTDIR)$(PREFIX)/bin' '$(share)/bash-completion/completions' '$(DESTDIR)$(ZSHDIR)' '$(share)/doc/dnn' \
	  '$(share)/man/man1' '$(share)/dnn/configs' '$(share)/dnn/data' '$(share)/dnn/examples' '$(share)/dnn/spark' '$(share)/dnn/leads' \
	  '$(share)/dnn/scripts/data' '$(DESTDIR)$(UNITDIR)'
	install -m 755 $(BUILD)/dnn '$(DESTDIR)$(PREFIX)/bin/dnn'
	$(BUILD)/dnn completion bash > '$(share)/bash-completion/completions/dnn'
	$(BUILD)/dnn completion zsh > '$(DESTDIR)$(ZSHDIR)/_dnn'
	chmod 644 '$(share)/bash-completion/completions/dnn' '$(DESTDIR)$(ZSHDIR)/_dnn'
	install -m 644 $(BUILD)/man1/*.1 '$(share)/man/man1'
	install -m 644 README.md '$(share)/doc/dnn/README.md'
	install -m 644 configs/*.json '$(share)/dnn/configs'
	install -m 644 data/* '$(share)/dnn/data'
	install -m 644 $(BUILD)/leads/* '$(share)/dnn/leads'
	install -m 755 scripts/read_model.py '$(share)/dnn/scripts'
	install -m 644 scripts/data/* '$(share)/dnn/scripts/data'
	for folder in examples spark; do ln -sfn ../$$folder '$(share)/dnn/scripts/'$$folder || exit 1; done
	for folder in examples spark; do cp scripts/$$folder/[!_]* '$(share)/dnn/'$$folder && \
	  chmod -R u=rwX,go=rX '$(share)/dnn/'$$folder || exit 1; done
	for unit in scripts/systemd/*; do sed 's|/usr/share|$(PREFIX)/share|' $$unit >'$(DESTDIR)$(UNITDIR)/'$${unit##*/} && \
	  chmod 644 '$(DESTDIR)$(UNITDIR)/'$${unit##*/} || exit 1; done
uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/dnn' '$(share)/bash-completion/completions/dnn' '$(DESTDIR)$(ZSHDIR)/_dnn' \
	  '$(share)/man/man1/dnn.1' '$(share)/man/man1/'dnn-*.1 '$(DESTDIR)$(UNITDIR)/'dnn@.*
	rm -rf '$(share)/dnn' '$(share)/doc/dnn'

# A Debian package: build/dnn_VERSION_ARCHITECTURE.deb.
deb:
	rm -rf $(BUILD)/deb
	$(MAKE) install PREFIX=/usr DESTDIR=$(BUILD)/deb ZSHDIR=/usr/share/zsh/vendor-completions
	scripts/build/deb.sh $(BUILD)/deb $(VERSION) $(BUILD)

# Lines and branches that the unit and shell tests reach (gcov, no other tool).
coverage:
	$(MAKE) BUILD=build/cov OPT='-O0 -g' EXTRA_CFLAGS='--coverage' all units
	-find build/cov -name '*.gcda' -delete
	for t in build/cov/unit/*; do [ ! -x "$$t" ] || "$$t" >/dev/null 2>&1; done; \
	for t in tests/golden/*.sh tests/robust/*.sh tests/learn/*.sh; do DNN=$$PWD/build/cov/dnn $$t >/dev/null 2>&1; done; \
	scripts/coverage.sh build/cov

.PHONY: release leads demo test full nightly bench check sanitize install uninstall deb coverage
