# Everything a person types. `make` alone says what there is; nothing here needs an activated environment.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BIN := .venv/bin
RUN := .venv/.installed-run
DEV := .venv/.installed-dev
# Tools that start other tools (molecule, ansible-lint) look them up on PATH.
WITH_PATH := PATH="$(CURDIR)/$(BIN):$$PATH"
# Every role has a scenario. Those that build or install take longest; with what other tests run for real as well
# (booting, rebooting, BIOS settings) they are left to molecule-all, or a change would wait too long for its answer.
SLOW_ROLES := pxe_boot boot_image wipe boot_anew network_boot cloud_init reboot bios
QUICK_ROLES := $(filter-out $(SLOW_ROLES),$(patsubst roles/%/tasks/main.yml,%,$(wildcard roles/*/tasks/main.yml)))

.PHONY: help
help: ## Say what there is to make
	@echo "fleet-runner: make WHAT, where WHAT is"
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r what why; do \
	    printf '  %-12s %s\n' "$$what" "$$why"; done

.PHONY: demo
demo: $(RUN) ## Run the main job on a simulated data centre: no root, no server
	@$(BIN)/fleet-runner lab demo $(DEMO_ARGS)

.PHONY: demo-netbox
demo-netbox: $(RUN) ## The same with a real NetBox as the source of truth, which is installed the first time
	@$(BIN)/fleet-runner lab demo --netbox $(DEMO_ARGS)

.PHONY: install
install: $(RUN) ## Set up .venv with fleet-runner and Ansible, to run a fleet from here

.PHONY: deb
deb: ## Build the Debian package into dist
	@scripts/deb dist

.PHONY: test
test: test-core test-others ## Run every test, and hold core to full branch coverage

.PHONY: test-core
test-core: $(DEV) debian-packages
	$(BIN)/coverage erase
	# Tests that run beside it keep a list of their own of what failed.
	$(BIN)/coverage run -m pytest $(PYTEST_ARGS) tests/core --numprocesses 2 -o cache_dir=.pytest_cache/core
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

AGAIN := false  # what is done where tests failed: CI tries a few of them once more

.PHONY: test-others
test-others: $(DEV) debian-packages
	# Most of them wait, for plays, servers and browsers: more at a time than there are cores.
	$(BIN)/python -m pytest $(PYTEST_ARGS) --ignore tests/core --numprocesses 3 --dist loadfile --no-loadscope-reorder \
	    || { [ $$? -eq 1 ] && $(AGAIN); }

.PHONY: netbox-plugin
netbox-plugin: $(DEV) ## Build the wheel of NetBox's plugin into dist
	cd netbox_plugin && ../$(BIN)/python -m hatchling build -t wheel -d ../dist

.PHONY: chaos
chaos: $(DEV) debian-packages ## Kill runners, plays and databases at random, for so many SEEDS (20)
	@$(BIN)/python -m tests.chaos --seeds $(or $(SEEDS),20) $(CHAOS_ARGS)

.PHONY: check
check: lint molecule test ## Everything that must pass before a change lands

.PHONY: bench-adopt
bench-adopt: $(DEV) ## Take 32 lab servers and 2,000 stand-ins that serve from an empty folder into production
	@PYTHONPATH=. $(BIN)/python benchmarks/adopt.py $(BENCH_ARGS)

.PHONY: bench-cabling
bench-cabling: $(RUN) ## Take the time of judging whole fabrics, beside reading the file and the field's own tools
	@$(BIN)/python benchmarks/cabling.py $(BENCH_ARGS)

.PHONY: bench-cli
bench-cli: $(DEV) ## Take what the commands that people wait for cost, beside ansible --version
	@$(BIN)/python benchmarks/cli.py $(BENCH_ARGS)

.PHONY: bench-boot
bench-boot: $(DEV) ## Boot 10,000 nodes at once over real sockets, beside nginx with static files of the same sizes
	@PYTHONPATH=. $(BIN)/python benchmarks/boot.py $(BENCH_ARGS)

.PHONY: bench-ethernet
bench-ethernet: $(DEV) ## Take what it costs to judge a whole Ethernet fabric from what its switches print
	@$(BIN)/python -m benchmarks.ethernet $(BENCH_ARGS)

.PHONY: bench-fleet
bench-fleet: $(DEV) ## Find how large a fleet one runner and one store carry, and what breaks first
	@PYTHONPATH=. $(BIN)/python benchmarks/fleet.py $(BENCH_ARGS)

.PHONY: bench-firmware
bench-firmware: $(RUN) ## Update the firmware of 200 emulated BMCs at once from one process
	@$(BIN)/python benchmarks/firmware.py $(BENCH_ARGS)

.PHONY: bench-foresight
bench-foresight: $(RUN) ## Take what a night of foresight costs 10,000 nodes, with 30 to 180 days of history
	@$(BIN)/python benchmarks/foresight_night.py $(BENCH_ARGS)

.PHONY: bench-drift
bench-drift: $(RUN) ## Hold what the analysis of drift tells against what was put into synthetic fleets, and into none
	@$(BIN)/python benchmarks/foresight.py $(BENCH_ARGS)
	@$(BIN)/python benchmarks/foresight_weeks.py

.PHONY: bench-netbox
bench-netbox: $(RUN) ## Fill the NetBox at NETBOX_URL and take what it costs to read it, beside what others read with
	@$(BIN)/python benchmarks/netbox.py $(BENCH_ARGS)

.PHONY: bench-lemons
bench-lemons: $(RUN) ## Find bad places, bad parts and lemons in synthetic fleets whose truth is known
	@$(BIN)/python benchmarks/lemons.py $(BENCH_ARGS)

.PHONY: bench-metrics
bench-metrics: $(RUN) ## Take what a scrape of metrics costs with 10,000 nodes and a million lines of history
	@PYTHONPATH=. $(BIN)/python benchmarks/metrics.py $(BENCH_ARGS)

.PHONY: bench-signals
bench-signals: $(RUN) ## Take how many signals a second one core takes, and how long a push waits for its decision
	@PYTHONPATH=. $(BIN)/python benchmarks/signals.py $(BENCH_ARGS)
	@PYTHONPATH=. $(BIN)/python benchmarks/pushed.py

.PHONY: bench-sweep
bench-sweep: $(DEV) debian-packages ## Take what a passive sweep of 50 nodes over ssh costs, beside a bare ping
	@PYTHONPATH=. $(BIN)/python benchmarks/sweep.py $(BENCH_ARGS)

.PHONY: bench-runner
bench-runner: $(DEV) debian-packages ## Take what a stage costs through the runner, beside plain Ansible, and what the store carries
	@PYTHONPATH=. $(BIN)/python benchmarks/runner.py $(BENCH_ARGS)
	@PYTHONPATH=. $(BIN)/python benchmarks/runner_store.py

.PHONY: bench-web
bench-web: $(DEV) ## Take what the fleet's page costs the server at 1,000 and 10,000 nodes
	@PYTHONPATH=. $(BIN)/python benchmarks/web.py $(BENCH_ARGS)

.PHONY: bench-worth
bench-worth: $(RUN) ## Hold proposed schedules and limits against what comes true, on fleets whose truth is known
	@$(BIN)/python benchmarks/worth.py $(BENCH_ARGS)

.PHONY: bench-xids
bench-xids: $(RUN) ## Take how fast Xids are found in kernel logs, beside grep
	@$(BIN)/python benchmarks/xids.py $(BENCH_ARGS)

.PHONY: lint
lint: ruff types imports yaml playbooks docs-check ## Style, types, layers, YAML, playbooks, generated files

.PHONY: ruff
ruff: $(DEV)
	$(BIN)/ruff check --no-cache
	$(BIN)/ruff format --check

.PHONY: types
types: $(DEV)
	$(BIN)/mypy
	$(BIN)/basedpyright

.PHONY: imports
imports: $(DEV)
	$(BIN)/lint-imports

.PHONY: yaml
yaml: $(DEV)
	$(BIN)/yamllint --strict .

.PHONY: playbooks
playbooks: $(DEV)
	# Linting needs no source of truth; without this a clone without one could not be linted.
	$(WITH_PATH) ANSIBLE_INVENTORY_UNPARSED_FAILED=false ansible-lint --offline --strict --profile production

.PHONY: docs-check
docs-check: $(DEV)
	$(BIN)/python scripts/generate-docs --check

.PHONY: molecule
molecule: $(DEV) debian-packages ## Run each quick role on its own, twice; two roles at a time
	@scripts/molecule $(QUICK_ROLES)

.PHONY: molecule-all
molecule-all: $(DEV) debian-packages ## Run every role on its own, twice
	@scripts/molecule $(SLOW_ROLES) $(QUICK_ROLES)

.PHONY: format
format: $(DEV) ## Rewrite the Python files in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: docs
docs: $(DEV) ## Rewrite the documents that are generated from the code
	$(BIN)/python scripts/generate-docs

.PHONY: hooks
hooks: $(DEV) ## Have git run the quick checks before each commit
	$(BIN)/pre-commit install

.PHONY: clean
clean: ## Remove what make has made, the environment and the demo's data included
	rm -rf .venv .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .ansible .molecule demo dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: debian-packages
debian-packages:
	@scripts/debian-packages

$(RUN): requirements.lock pyproject.toml scripts/venv
	@PYTHON="$(PYTHON)" scripts/venv requirements.lock
	@touch $@

# The larger lock holds the smaller one's versions, so it serves the demo as well.
$(DEV): requirements-dev.lock pyproject.toml scripts/venv
	@PYTHON="$(PYTHON)" scripts/venv requirements-dev.lock
	@touch $(RUN) $@
