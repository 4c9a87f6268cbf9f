# Each target sets up what it needs; nothing but Python 3.11 to 3.13 must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# Compiled where there is a C compiler: `newscrawl --version` says whether it is used.
KERNEL := setup.py newscrawl/extraction/kernel.pyx
CORPUS ?= $(or $(NEWSCRAWL_CORPUS),../shared/corpus)
# Labelled pages are no part of the project: what needs them is skipped where there are none.
ifneq ($(wildcard $(CORPUS)),)
export NEWSCRAWL_CORPUS := $(CORPUS)
endif

.DEFAULT_GOAL := help
.PHONY: help setup dev demo serve test test-all lint types contracts pytest corpus-test commands pages lock bench bench-cluster bench-cost bench-crawl bench-ingest bench-peers bench-query release release-check clean

help:
	@echo "make demo         crawl a small bundled news site and count its companies"
	@echo "make serve        the dashboard, at http://127.0.0.1:8300/ (PORT=8377: at another port)"
	@echo "make test         linters, types, import contracts and the tests"
	@echo "make test-all     the same promises on more examples"
	@echo "make corpus-test  the tests that need labelled pages (NEWSCRAWL_CORPUS)"
	@echo "make setup        only the environment that a crawl needs, in $(VENV)"
	@echo "make dev          only the environment that development needs"
	@echo "make bench        score and time our methods on labelled pages"
	@echo "make bench-cost   the stages of extraction, by size of page, and memory"
	@echo "make bench-crawl  crawl a local news world, beside a bare download"
	@echo "make bench-ingest take in a WARC, beside one process that only extracts"
	@echo "make bench-cluster take in the same WARCs on a Dask cluster of this machine"
	@echo "make bench-query  ask a year of a million articles (10 GB, half an hour)"
	@echo "make bench-peers  score and time every other tool beside them"
	@echo "make commands     write docs/commands.md from the help texts, docs/metadata.md's places"
	@echo "make lock         renew the versions and hashes of all that is installed"
	@echo "make pages        JSON for new pages in tests/pages"
	@echo "make release      VERSION=0.2.0: write, build, try, commit and tag a release"
	@echo "make clean        remove what make made"
	@echo "PYTHON=python3.12 names another Python, of 3.11 to 3.13."

setup: $(VENV)/.ready
dev: $(VENV)/.ready-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3,11) <= sys.version_info[:2] <= (3,13) else "newscrawl needs Python 3.11 to 3.13; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...")'
	@echo "Making an environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The project itself, with the compiler and the build system of the lock file.
PROJECT := --no-deps --no-build-isolation -e .

$(VENV)/.ready: requirements.lock pyproject.toml $(KERNEL) | $(VENV)/bin/python
	@echo "Installing what a crawl needs (about a minute) ..."
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) $(PROJECT)
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock pyproject.toml $(KERNEL) | $(VENV)/bin/python
	@echo "Installing what development needs (about two minutes) ..."
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) $(PROJECT)
	@touch $@ $(VENV)/.ready

# Direct requirements stay at the versions of requirements.txt; all others become the newest.
COMPILE := $(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command "make lock" pyproject.toml -
BUILD := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")
lock: | $(VENV)/bin/python
	@$(PIP) uv
	@{ grep -v '^-e' requirements.txt; $(BIN)/python -c '$(BUILD)'; } > $(VENV)/direct.txt
	$(COMPILE) --extra dashboard,monitor,parquet,postgres,reports,s3 -o requirements.lock < $(VENV)/direct.txt
	$(COMPILE) --extra dev -c requirements.lock -o requirements-dev.lock < $(VENV)/direct.txt

demo: setup
	@$(BIN)/python -m tests.site.demo .demo

# The database of the settings; that of the demo until a crawl has stored an article.
serve: setup
	@if [ -z "$(NEWSCRAWL_DATABASE_URL)" ] && [ -f .demo/demo.sqlite ] && ! $(BIN)/newscrawl articles -n 1 >/dev/null 2>&1; then \
	  $(BIN)/newscrawl serve --database sqlite:///.demo/demo.sqlite --archive .demo/archive --companies .demo/my-companies.toml $(if $(PORT),--port $(PORT)); \
	else $(BIN)/newscrawl serve $(if $(PORT),--port $(PORT)); fi

test: lint types contracts pytest

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/budget.py

types: dev
	$(BIN)/mypy

contracts: dev
	$(BIN)/lint-imports

pytest: dev
	$(BIN)/pytest

# What proves the same promises again, on more examples.
test-all: dev
	$(BIN)/pytest -m thorough

# The tests that need labelled pages; skipped, with the reason, where there are none.
corpus-test: dev
	$(BIN)/pytest -n 0 -m corpus

commands: dev
	@$(BIN)/typer newscrawl.cli utils docs --name newscrawl --title Commands --output docs/commands.md
	@$(BIN)/python -m newscrawl.extraction.metadata docs/metadata.md

# Writes the JSON of new pages in tests/pages: see CONTRIBUTING.md.
pages: setup
	@$(BIN)/python -m tests.pages

bench: dev
	$(BIN)/python -m benchmarks.extraction --corpus "$(CORPUS)"

# CPU time and memory of extraction; without the corpus on generated pages.
bench-cost: dev
	$(BIN)/python -m benchmarks.cost $(if $(wildcard $(CORPUS)),--corpus "$(CORPUS)")

# SITES=5 ARTICLES=500 makes it small. Without the corpus the pages of tests/pages are served.
SITES ?= 50
ARTICLES ?= 10000
bench-crawl: dev
	$(BIN)/python -m benchmarks.crawl --sites $(SITES) --articles $(ARTICLES) --corpus "$(CORPUS)"

bench-ingest: dev
	$(BIN)/python -m benchmarks.ingest --corpus "$(CORPUS)"

bench-cluster: dev
	$(BIN)/python -m benchmarks.cluster --corpus "$(CORPUS)" --pages 500

# YEAR=20000 for a small one, YEAR=3000000 for a large one on PostgreSQL alone (24 GB); WORDS=60 for short articles, of which
# YEAR=10000000 takes 50 GB; FOLDER=DIR keeps the databases.
bench-query: dev
	$(BIN)/python -m benchmarks.query --articles $(or $(YEAR),1000000) $(if $(WORDS),--max-words $(WORDS)) $(if $(FOLDER),--folder "$(FOLDER)")

bench-peers: dev
	$(BIN)/python -m benchmarks.extraction --corpus "$(CORPUS)" --peers --install

# VERSION=0.2.0: writes, builds, tries, commits and tags it. release-check builds and tries it only.
release: dev
	@$(BIN)/python .ci/release.py $(VERSION)

release-check: dev
	@$(BIN)/python .ci/release.py --check

clean:
	rm -f newscrawl/extraction/kernel.*.so newscrawl/extraction/kernel.c
	rm -rf $(VENV) .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
