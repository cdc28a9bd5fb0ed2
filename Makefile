# Two commands do all of their own set-up and may be repeated: make run, make test.

BIN := .venv/bin

.PHONY: help setup setup-dev run test test-appliance lint bench soak-core mutants \
	install uninstall deb clean

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST)

setup: ## install all it takes to run, in .venv
	@tools/setup.sh

setup-dev: ## and all it takes to test
	@tools/setup.sh --dev

run: setup ## talk to it; without a microphone, hold the demo conversation
	@$(BIN)/edgevoice run --or-demo demo

test: lint ## check and test everything
	@$(BIN)/python -m pytest

test-appliance: setup-dev deb ## test the installed service in a container and in a virtual machine (as root)
	@$(BIN)/python -m pytest tests/appliance/nspawn_service.py tests/appliance/nspawn_install.py
	@tests/appliance/build.sh "$$(ls -t dist/*.deb | head -n 1)"
	@$(BIN)/python -m pytest -m appliance -v --no-header tests/appliance

lint: setup-dev ## style, types and import rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: setup-dev ## measure on the real engines (SUITE=core, speak, intents, latency, turn, conversation, footprint, duplex)
	@$(BIN)/python -m bench $(SUITE)

soak-core: setup-dev ## a million random events through the conversation machine
	@$(BIN)/python -m tests.core.soak

mutants: setup-dev ## change every function of the core, one change at a time: does a test fail? (half an hour)
	@$(BIN)/pip install --quiet mutmut==3.8.1
	@PATH="$(CURDIR)/$(BIN):$$PATH" nice -n 19 $(BIN)/mutmut run --max-children $(or $(JOBS),1)
	@$(BIN)/python -m tests.mutants

install: ## install it as a service of this system, or upgrade it (as root)
	@tools/install.sh

uninstall: ## remove the service; PURGE=1: its configuration, models and user, too (as root)
	@tools/install.sh $(if $(PURGE),--purge,--uninstall)

deb: ## a Debian package for systems like this one, in dist/
	@tools/deb.sh

clean: ## remove what was made here; kept wheels and models stay
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf build dist demo mutants edgevoice.egg-info
