# Everything runs from .venv, which `make setup` builds from the pinned requirement files.
.DEFAULT_GOAL := help
.PHONY: help setup serve test lint docs reference eval bench stranger requirements clean

BIN := .venv/bin
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## build .venv from the pinned requirements (does nothing when it is current)
	@bash scripts/setup.sh dev

serve:  ## run the server; settings come from the environment
	@bash scripts/setup.sh serve
	@trap : INT; $(BIN)/recollect serve $(ARGS) || [ $$? = 130 ] # Ctrl-C is how it ends, not an error

test: setup  ## start what the tests need and run them all; ARGS="-k word" narrows it, ARGS="--hypothesis-profile=explore" tries other examples
	@bash scripts/chromium.sh
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: setup  ## ruff, mypy --strict and the import arrows
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy src tests $(wildcard eval bench scripts examples)
	@$(BIN)/lint-imports --no-logo

docs: setup  ## build the documentation into build/site; every warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

reference: setup  ## write docs/reference anew, from the code
	@$(BIN)/python -m scripts.reference

eval: setup  ## measure retrieval quality; ARGS="--dataset name"
	@bash scripts/setup.sh eval
	@$(BIN)/python -m eval $(ARGS)

bench: setup  ## measure speed against a floor taken in the same run; ARGS="recall", "write", "growth" or "backfill"
	@$(BIN)/python -m bench $(ARGS)

stranger:  ## clone this into a clean home, follow README and quickstart from nothing, and say how long it took
	@$(or $(PYTHON),python3) scripts/stranger.py

requirements:  ## recompile the pinned requirement files
	@bash scripts/setup.sh lock
	@bash scripts/requirements.sh

clean:  ## remove what the targets above made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
