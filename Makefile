# Safehold: everything from a clone with nothing but Python 3.11 or newer.
#   make up      the whole service on this machine (PORT=8001 and DEMO=0 change it)
#   make test    all checks and tests, except those that need a GPU or a Kubernetes cluster
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# Where a machine forbids it, each of hundreds of processes would compile torch and Django anew.
export PYTHONDONTWRITEBYTECODE :=
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install -qq --no-compile --constraint constraints.txt
# What the settings want to know before they can be read by a linter.
LINT_ENV := SAFEHOLD_SECRET_KEY=for-checks-only-$(shell printf 'x%.0s' $$(seq 50)) SAFEHOLD_HOME=$(CURDIR)/.safehold-check
DEPLOY_ENV := $(LINT_ENV) SAFEHOLD_PUBLIC_URL=https://safehold.invalid
PYTEST := $(BIN)/pytest
BENCHES := $(filter-out __init__ service,$(basename $(notdir $(wildcard bench/*.py))))

.PHONY: up setup test check quick e2e chromium bench format clean
.DEFAULT_GOAL := up

up: .venv/.server
	@$(BIN)/safehold up $(if $(filter 0 no,$(DEMO)),--no-demo)

setup: .venv/.dev

# Side by side: the linters and the quick tests leave each other room. What the slower of two says comes whole.
test: .venv/.dev .venv/.assets chromium
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target check quick
	$(MAKE) --no-print-directory e2e

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	git ls-files -z | xargs -0 $(BIN)/codespell
	git ls-files -z 'templates/*.html' | xargs -0 -r $(BIN)/djade --check --target-version 5.2
	$(BIN)/lint-imports --no-cache
	$(LINT_ENV) $(BIN)/mypy safehold controlplane runs checkpoints workers
	$(LINT_ENV) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(LINT_ENV) $(BIN)/python manage.py catalogue --check
	$(DEPLOY_ENV) $(BIN)/python manage.py check --deploy --fail-level WARNING

# One process more than a small machine has cores: one goes through the slow files, which mostly wait.
quick: .venv/.dev .venv/.assets
	$(PYTEST) -n 3 --dist worksteal -m "not e2e and not gpu and not cluster"

# Each process has a service of its own, which the tests of a file share; slow files come first.
e2e: .venv/.dev .venv/.assets chromium
	$(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder -m "e2e and not gpu and not cluster" tests/e2e

chromium:
	@command -v chromium >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else echo "make: the browser tests need Chromium; ask for the package 'chromium', or run 'make check quick'." >&2; exit 1; fi

bench: .venv/.dev .venv/.assets
	for driver in $(BENCHES); do $(BIN)/python -m bench.$$driver || exit 1; done

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	git ls-files -z 'templates/*.html' | xargs -0 -r $(BIN)/djade --target-version 5.2

clean:
	rm -rf .venv node_modules static/vendor .safehold-check

# A stamp is older than what it was made from, or nothing is to do.
# The pip that comes with Python 3.11 installs slower by half than the pinned one.
.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or newer is needed." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than Python 3.11; name another: PYTHON=python3.12 make up" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@$(PIP) --upgrade pip

.venv/.server: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing Safehold into .venv (the first time takes a minute or two) …"
	@$(PIP) torch --editable '.[server,train]'
	@touch $@

# The tools for tests come with all that the service needs, at once: looking twice would take longer.
.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing Safehold and the tools for its tests into .venv (the first time takes a minute or two) …"
	@$(PIP) torch --editable '.[server,train,dev]'
	@touch .venv/.server $@

.venv/.assets: package-lock.json controlplane/service/assets.py | .venv/.server
	@$(BIN)/python -m controlplane.service.assets
	@touch $@
