"""The contract suites against a real vLLM: `make test-vllm`, with `--vllm-url URL` (see deploy/vllm/README.md)."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vllm-url", default="", help="a running vLLM with the extraction profile's flags")
    parser.addoption("--vllm-model", default="google/gemma-4-E4B-it")


@pytest.fixture
def vllm_url(request: pytest.FixtureRequest) -> str:
    url: str = request.config.getoption("--vllm-url", default="") or ""
    if not url:
        pytest.skip("no --vllm-url was given")
    return url


@pytest.fixture
def vllm_model(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--vllm-model", default="google/gemma-4-E4B-it"))
