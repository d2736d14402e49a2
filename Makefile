# What people type. Meson does the work; this only installs what is missing and names the targets.
#
#   make run ARGS="-1 --demo"     make test TESTS="--suite unit"     make BUILD=elsewhere

BUILD  ?= build
PYTHON  = $(CURDIR)/build/venv/bin/python
MESON  ?= meson
NINJA  ?= ninja
ARGS   ?=
TESTS  ?=
FUZZ_SECONDS ?= 60

# Where this system's linker looks; Meson knows it only where dpkg-dev is installed.
CONFIGURE = triplet=$$(cc -print-multiarch 2>/dev/null); \
	$(MESON) setup $(BUILD) $${triplet:+--libdir=lib/$$triplet}

.PHONY: build run test bench fuzz format docs install clean

build: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)

run: $(BUILD)/build.ninja
	@$(NINJA) --quiet -C $(BUILD) vitals >&2
	@$(BUILD)/vitals $(ARGS)

test: $(BUILD)/tests.stamp
	@$(NINJA) -C $(BUILD)
	@scripts/run-tests $(BUILD) $(TESTS)

bench: $(BUILD)/tests.stamp
	@$(NINJA) -C $(BUILD)
	@$(MESON) test -C $(BUILD) --no-rebuild --benchmark --verbose

fuzz:
	@scripts/run-fuzz $(FUZZ_SECONDS)

format:
	@git ls-files -z --cached --others --exclude-standard '*.c' '*.h' | xargs -0 clang-format -i

# What the program prints about itself and the tree keeps a copy of.
docs: build
	@scripts/generated write $(BUILD)

install: build
	@$(MESON) install -C $(BUILD) --no-rebuild
	@if [ "$$(id -u)" -eq 0 ] && [ -z "$(DESTDIR)" ]; then ldconfig; fi

clean:
	rm -rf $(BUILD)

$(BUILD)/build.ninja:
	@scripts/setup build
	@$(CONFIGURE)

# Made again when the lists of what tests need change. A folder set up by `make run` learns here that
# tests are wanted.
$(BUILD)/tests.stamp: scripts/packages-build scripts/packages-test scripts/requirements-test.txt
	@scripts/setup test
	@test -e $(BUILD)/build.ninja || { $(CONFIGURE); }
	@$(MESON) configure $(BUILD) -Dtests=enabled -Dtest_python=$(PYTHON)
	@touch $@
