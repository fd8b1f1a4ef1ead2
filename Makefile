# make demo   audit the sample recording and write a report
# make test   the tests that take a few minutes; every room has its share
# make test-all  everything: the films, the counts, the browser, the cameras and long runs too
# make test-train  train, export and check a tiny model; exports opened by ultralytics
#             (installs torch: gigabytes)
# make docs   the pages of docs/ as a site in build/site; a broken link is an error
# make lint   ruff, mypy, import-linter; ESLint and tsc for the JavaScript where npm is installed
#
# Only Python 3.11+, git and make are needed. PYTHON chooses the interpreter.

PYTHON ?= python3
VENV ?= .venv
DEMO_OUT ?= demo-report
TEST_WORKERS ?= 2
# One more than the two cores that CI has: short tests often wait for a process that they started.
QUICK_WORKERS ?= 3

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-long test-train docs lint lint-js format clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(VENV)/.base
	$(BIN)/feltwatch demo --out $(DEMO_OUT)

# Byte code is kept whatever the shell says: tests start many processes, and without it every one
# compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE

# A test's markers say why it is not in `make test`; property tests come again in `make test-all`
# with many more examples. What `make test` has run there is not run a second time.
LONG := slow or render or brute or browser or rtsp or e2e
PYTEST = $(BIN)/python -m pytest

test: $(VENV)/.dev
	HYPOTHESIS_PROFILE=quick $(PYTEST) -n $(QUICK_WORKERS) -m 'not ($(LONG))' $(PYTEST_ARGS)

test-all: test test-long

test-long: $(VENV)/.dev
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -n $(TEST_WORKERS) -m '$(LONG) or property' $(PYTEST_ARGS)

test-train: $(VENV)/.train
	$(BIN)/python -m pytest tests/train tests/datasets/labelled/test_labelled_formats.py \
	  tests/datasets/labelled/test_label_form_outlines.py $(PYTEST_ARGS)

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@command -v npm >/dev/null || echo 'npm is not installed: the JavaScript was not checked' >&2
	$(if $(shell command -v npm),$(MAKE) --no-print-directory lint-js)

lint-js: node_modules/.package-lock.json
	npm run --silent lint
	npm run --silent types

node_modules/.package-lock.json: package-lock.json
	@echo 'installing the checks of the JavaScript into node_modules'
	npm ci --loglevel=error --no-audit --no-fund
	@touch $@

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(DEMO_OUT) node_modules build ./*.egg-info .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'feltwatch needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3.12' >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# opencv-python is built for desktops: its Qt wants libGL and libglib, which a bare server
# lacks. Nothing here opens a window, so the windowless build of the same version is laid
# over it where the import fails.
define windowless_opencv
	@$(BIN)/python -c 'import cv2' 2>/dev/null || { \
	  echo 'no desktop libraries here: taking the windowless build of OpenCV'; \
	  version=$$($(BIN)/python -c 'from importlib.metadata import version; print(version("opencv-python"))') && \
	  $(PIP) install --force-reinstall --no-deps "opencv-python-headless==$$version" && \
	  $(BIN)/python -c 'import cv2'; }
endef

$(VENV)/.base: pyproject.toml | $(BIN)/python
	@echo 'installing feltwatch into $(VENV)'
	$(PIP) install --editable .
	$(windowless_opencv)
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.base | $(BIN)/python
	@echo 'installing the development tools into $(VENV)'
	$(PIP) install --editable '.[dev]'
	$(PIP) install --no-deps 'datumaro>=1.13,<1.14'
	$(windowless_opencv)
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.base | $(BIN)/python
	@echo 'installing what builds the documentation into $(VENV)'
	$(PIP) install --editable '.[docs]'
	$(windowless_opencv)
	@touch $@

$(VENV)/.train: pyproject.toml $(VENV)/.dev | $(BIN)/python
	@echo 'installing the training libraries into $(VENV)'
	$(PIP) install --editable '.[dev,train]'
	$(windowless_opencv)
	@touch $@
