# What people type. Meson does the work; this only installs what is missing and names the targets.
#
#   make run ARGS="-1 --demo"     make test TESTS="unit harness"     make BUILD=elsewhere
#   make install PREFIX=$HOME/.local
#
# What `make run` prints on stdout is the program's alone, also the first time.

BUILD  ?= build
PYTHON  = $(CURDIR)/build/venv/bin/python
SERVERS = $(CURDIR)/build/venv-servers/bin/python
OTELCOL = $(CURDIR)/build/collector/collector
MESON  ?= meson
NINJA  ?= ninja
ARGS   ?=
TESTS  ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

# Where this system's linker looks; Meson knows it only where dpkg-dev is installed.
CONFIGURE = triplet=$$(cc -print-multiarch 2>/dev/null); \
	scripts/quietly $(BUILD)/make.log $(MESON) setup $(BUILD) $${triplet:+--libdir=lib/$$triplet}

export MESON NINJA

.PHONY: build run test bench fuzz format docs install clean

build: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)

run: $(BUILD)/build.ninja
	@scripts/quietly $(BUILD)/make.log $(NINJA) -C $(BUILD) vitals
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

install:
	@DESTDIR="$(DESTDIR)" scripts/install "$(BUILD)" "$(PREFIX)"

clean:
	rm -rf $(BUILD)

$(BUILD)/build.ninja:
	@scripts/setup build
	@echo "vitals: building in $(BUILD)/" >&2
	@$(CONFIGURE)

# Made again when the lists of what tests need change. A folder set up by `make run` learns here that
# tests are wanted.
$(BUILD)/tests.stamp: scripts/packages-build scripts/packages-test scripts/requirements-test.txt \
    scripts/requirements-servers.txt tests/collector/main.go tests/collector/go.mod
	@scripts/setup test
	@test -e $(BUILD)/build.ninja || { $(CONFIGURE); }
	@$(MESON) configure $(BUILD) -Dtests=enabled -Dtest_python=$(PYTHON) \
	    -Dservers_python=$(SERVERS) -Dotelcol=$(OTELCOL)
	@touch $@
