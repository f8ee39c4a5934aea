# make play   set up what is missing, then watch the agent play a match over HTTP
# make test   set up what is missing, then run all checks and tests
# make test-all   the slow tests, too
# make test-bounds   all tests with numba's bounds checks on
# make test-nojit    those of small games in plain Python, without numba
# make lint   only the checks;  make clean: remove what set-up made
# make docs   the documentation site, in site/ (site/index.html)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv pip install -q --python $(BIN)/python
GAME ?= connectFour
PORT ?= 9147

SMALL_TESTS := $(addprefix tests/propnet/test_, vectors.py simulator.py gates.py factoring.py) \
	$(addprefix tests/ggp_agent/search/test_, pool.py scoring.py without_numba.py)

.PHONY: play test test-all test-bounds test-nojit lint docs setup clean

play: $(VENV)/.runs
	@bash -c 'set -e; \
	$(BIN)/ggp-agent serve --port $(PORT) 2> serve.log & server=$$!; \
	trap "kill $$server 2>/dev/null; wait $$server 2>/dev/null" EXIT; \
	echo "Starting the agent server on port $(PORT) (its log: serve.log);"; \
	echo "the very first start compiles the kernels, which takes most of a minute."; \
	$(BIN)/ggp-agent info http://localhost:$(PORT) --wait 300; \
	$(BIN)/ggp-agent match $(GAME) http://localhost:$(PORT) random --start-clock 1 --play-clock 1'

test: $(VENV)/.done lint
	$(BIN)/ggp-agent warm
	$(BIN)/pytest -q -m "not slow"

test-all: $(VENV)/.done lint
	$(BIN)/pytest -q

test-bounds: $(VENV)/.done
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -q -m "not slow"

test-nojit: $(VENV)/.done
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -q -W ignore:overflow:RuntimeWarning $(SMALL_TESTS)

lint: $(VENV)/.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Its theme prints an advertisement; what it says of MkDocs 2 is why pyproject.toml asks for 1.
docs: $(VENV)/.docs-done
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html."

$(VENV)/.docs-done: $(VENV)/.runs
	$(UV) -e ".[docs]" || $(BIN)/pip install -q -e ".[docs]"
	@touch $@

setup: $(VENV)/.done

# What the agent needs to run.  System packages: SWI-Prolog, and venv where Debian's Python comes
# without it.  uv installs in a fraction of pip's time; pip steps in where it fails, for it alone
# knows an index of packages that pip's configuration names.
$(VENV)/.runs: pyproject.toml
	@command -v swipl > /dev/null && $(PYTHON) -c "import venv, ensurepip" 2> /dev/null || { \
	  sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$sudo apt-get update -q && \
	  $$sudo apt-get install -y -q --no-install-recommends swi-prolog-nox python3-venv; }
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/pip install -q uv
	$(UV) -e . || $(BIN)/pip install -q -e .
	@touch $@

# ... and what its tests need besides.
$(VENV)/.done: $(VENV)/.runs
	$(UV) -e ".[test]" || $(BIN)/pip install -q -e ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) site serve.log
	find . -name __pycache__ -prune -exec rm -rf {} +
