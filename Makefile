# Every target does the set-up that it needs. PYTHON=/path/to/python chooses the interpreter of a new .venv.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help addon install install-browser demo test check format bench venvs clean

# Threads that spin while they wait starve Blender's workers on a machine with few cores.
export OMP_WAIT_POLICY ?= PASSIVE

BIN := .venv/bin
REFERENCE ?= brick_wall

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

install: ## make .venv and install everything; system libraries too when root on Debian
	@scripts/setup.sh environment libraries

install-browser: install
	@scripts/setup.sh browser

demo: install ## fit a bundled reference (REFERENCE=name) and say where the result is
	@rm -rf demo
	@$(BIN)/material-agent fit $(REFERENCE) --quality draft --seed 0 -o demo || [ $$? -eq 1 ]

test: install-browser ## run the tests (ARGS= goes to pytest)
	@$(BIN)/python -m pytest $(ARGS)

check: install ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install ## format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install ## run every benchmark, quickly (ARGS= goes to each)
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python "$$file" --quick $(ARGS) || exit $$?; done

addon: install ## build the Blender extension into dist/ and let Blender's validator judge it
	@$(BIN)/python scripts/build_extension.py $(ARGS)

venvs: install ## bpy-only environments, one for each supported Blender
	@$(BIN)/python scripts/make_venvs.py $(ARGS)

clean: ## remove what the tools leave behind; .venv and runs stay
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist build
