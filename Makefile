# Everything runs from .venv, which `make setup` builds from the pinned requirement files.
.DEFAULT_GOAL := help
.PHONY: help setup serve test lint eval bench requirements clean

BIN := .venv/bin
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## build .venv from the pinned requirements (does nothing when it is current)
	@bash scripts/setup.sh dev

serve: setup  ## run the server; settings come from the environment
	@$(BIN)/recollect serve $(ARGS)

test: setup  ## start what the tests need and run them all; ARGS="-k word" narrows it, ARGS="--hypothesis-profile=explore" tries other examples
	@bash scripts/chromium.sh
	@$(BIN)/python -m pytest -n auto $(ARGS)

lint: setup  ## ruff, mypy --strict and the import arrows
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy src tests $(wildcard eval bench)
	@$(BIN)/lint-imports --no-logo

eval: setup  ## measure retrieval quality; ARGS="--dataset name"
	@bash scripts/setup.sh eval
	@$(BIN)/python -m eval $(ARGS)

bench: setup  ## measure speed against a floor taken in the same run; ARGS="recall", "write", "growth" or "backfill"
	@$(BIN)/python -m bench $(ARGS)

requirements:  ## recompile the pinned requirement files
	@bash scripts/setup.sh lock
	@bash scripts/requirements.sh

clean:  ## remove what the targets above made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
