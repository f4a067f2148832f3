# Everything a newcomer needs: `make demo`, `make test`, `make check`, `make bench`.
# The environment is made on the first run and left alone while pyproject.toml does not change.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# By files: the examples of a document build upon each other.
PYTEST_ARGS ?= -q -n 2 --dist loadfile

.PHONY: help demo test check bench conformance clean

help:
	@echo "make demo   start the real server, talk to it as an agent would, show what the agent sees"
	@echo "make test   run the test suite"
	@echo "make check  run every gate: format, lint, types, imports, generated docs, tests"
	@echo "make bench  run the benchmarks"
	@echo "make conformance  run the protocol's official suite and Inspector (from the npm registry)"
	@echo "make dist   build the wheel, the registry's server.json, the bundle and the plugin"
	@echo "make clean  remove the environment and what tools left behind"

$(VENV)/.runtime: pyproject.toml
	@test -x $(BIN)/python || { echo "Making $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -c 'import sys; sys.exit("Schemory needs Python 3.11 or newer; try: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@echo "Installing schemory into $(VENV) ..."
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "Installing the development tools into $(VENV) ..."
	@$(PIP) install --editable . --group dev
	@touch $@

demo: $(VENV)/.runtime
	@$(BIN)/schemory demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.dev
	@scripts/check

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks

conformance: $(VENV)/.dev
	@$(BIN)/python scripts/conformance.py

dist: $(VENV)/.runtime
	@$(PIP) wheel --no-deps --wheel-dir dist .
	@$(BIN)/python scripts/make_manifests.py --to dist

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
