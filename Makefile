# What people type. Meson does the work; this only installs what is missing and names the targets.
# `make help` lists them.
#
# What `make run` prints on stdout is the program's alone, also the first time.

BUILD  ?= build
PYTHON  = $(CURDIR)/build/venv/bin/python
SERVERS = $(CURDIR)/build/venv-servers/bin/python
OTELCOL = $(CURDIR)/build/collector/collector
MESON  ?= meson
NINJA  ?= ninja
ARGS   ?=
MESON_OPTIONS ?=
TESTS  ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

# Where this system's linker looks; Meson knows it only where dpkg-dev is installed.
CONFIGURE = triplet=$$(cc -print-multiarch 2>/dev/null); \
	scripts/quietly $(BUILD)/make.log $(MESON) setup $(BUILD) $(MESON_OPTIONS) $${triplet:+--libdir=lib/$$triplet}

export MESON NINJA

.PHONY: python-package frameworks build run test check bench fuzz format docs install uninstall clean help

build: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)

run: $(BUILD)/build.ninja
	@scripts/quietly $(BUILD)/make.log $(NINJA) -C $(BUILD) program
	@$(BUILD)/vitals $(ARGS)

# Builds what the tests that it runs need. TESTS=servers are those that speak to servers of others,
# TESTS=python those of the Python package.
test check: $(BUILD)/tests.stamp $(if $(filter servers,$(TESTS)),$(BUILD)/servers.stamp) \
    $(if $(filter python,$(TESTS)),python-package) $(if $(filter frameworks,$(TESTS)),frameworks)
	@scripts/run-tests $(BUILD) --build $(TESTS)

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

uninstall:
	@scripts/install --remove "$(BUILD)"

clean:
	rm -rf $(BUILD)

help:
	@echo 'make run          install what is missing to build, build, run vitals; ARGS="-1 --demo" are its arguments'
	@echo 'make install      install below PREFIX (/usr/local); PREFIX=$$HOME/.local needs no root'
	@echo 'make uninstall    remove what the last make install installed'
	@echo 'make test, check  install what the tests need, run them; TESTS="unit ps" runs some, by suite or name'
	@echo '                  TESTS=servers: with MLflow, Prometheus, a collector and a browser, which it installs'
	@echo '                  TESTS=python: of the Python package, which it builds'
	@echo '                  TESTS=frameworks: its callbacks in Keras, Lightning and Transformers, which it installs (310 MB)'
	@echo 'make bench        print what vitals costs to run, beside other tools'
	@echo 'make fuzz         search for crashes in each parser, FUZZ_SECONDS=60 each'
	@echo 'make format       lay out the C source with clang-format'
	@echo 'make docs         write the generated documents again'
	@echo 'make clean        remove the build folder'
	@echo 'BUILD=build       the build folder, with any of them'
	@echo 'MESON_OPTIONS=    of meson setup, when the build folder is made: MESON_OPTIONS="--werror -Dtell=disabled"'

$(BUILD)/build.ninja:
	@scripts/setup build
	@echo "vitals: building in $(BUILD)/; the first time takes a minute or two" >&2
	@$(CONFIGURE)

# Made again when the lists of what tests need change. A folder set up by `make run` learns here that
# tests are wanted.
$(BUILD)/tests.stamp: scripts/packages-build scripts/packages-test scripts/requirements-test.txt
	@scripts/setup test
	@test -e $(BUILD)/build.ninja || { $(CONFIGURE); }
	@$(MESON) configure $(BUILD) -Dtests=enabled "-Dtest_python=$(PYTHON)"
	@touch $@

$(BUILD)/servers.stamp: $(BUILD)/tests.stamp scripts/packages-servers scripts/requirements-servers.txt \
    tests/collector/main.go tests/collector/go.mod
	@scripts/setup servers
	@$(MESON) configure $(BUILD) "-Dservers_python=$(SERVERS)" "-Dotelcol=$(OTELCOL)"
	@touch $@

# Always: the package follows the source of the library.
python-package: $(BUILD)/tests.stamp
	@scripts/setup python
	@$(NINJA) -C $(BUILD) build.ninja >$(BUILD)/make.log
	@$(MESON) configure $(BUILD) "-Dpackage_python=$(CURDIR)/build/venv-python/bin/python"
	@$(NINJA) -C $(BUILD) build.ninja >$(BUILD)/make.log

frameworks: $(BUILD)/tests.stamp
	@scripts/setup frameworks
	@$(NINJA) -C $(BUILD) build.ninja >$(BUILD)/make.log
	@$(MESON) configure $(BUILD) "-Dframeworks_python=$(CURDIR)/build/venv-frameworks/bin/python"
	@$(NINJA) -C $(BUILD) build.ninja >$(BUILD)/make.log
