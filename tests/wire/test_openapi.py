"""Requests made from the OpenAPI document, right and wrong, by everyone who may ask: what comes back is documented.

No fault of ours (5xx), no status or shape the document does not name, every error a code of our tree, and nobody who
gives no credential or a wrong one gets further than 401.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    missing_required_header,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from app.auth.principal import Scope
from app.transports.http import FILE_TYPES, RAW_TYPES
from schemas import errors
from schemas.errors import TellerlineError
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.served import Served, served_in_thread

DOCUMENT = schemathesis.openapi.from_path(Path(__file__).parents[2] / "deploy" / "openapi.json")
OPERATIONS = {each.ok().label: each.ok() for each in DOCUMENT.get_all_operations()}
CODES = {kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
CHECKS: list[CheckFunction] = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    response_headers_conformance, missing_required_header, unsupported_method,
]  # fmt: skip
WHO = {"nobody": (), "a caller": ("alex-morgan", Scope.CALL), "qa": ("qa-tool", Scope.QA)}
COMMON = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
FRAMEWORK = {405: "bad_input"}
"""Statuses of the framework's own, with our body."""


@schemathesis.serializer(*FILE_TYPES, *RAW_TYPES)
def as_it_is(_context: object, value: object) -> bytes:
    """Audio travels as the bytes that were made up for it."""
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_in_thread(
        tmp_path_factory.mktemp("openapi"),
        FakeRecognizer(lambda _: "what's my balance"),
        max_upload_bytes=100_000,
        recording_days=1,
    ) as running:
        yield running


def probe(case: Case, gateway: Served, who: str) -> None:
    """Send a request as `who` and hold the answer against the document and our tree."""
    case.headers.pop("Authorization", None)
    if WHO[who]:
        case.headers.update(gateway.token(*WHO[who]))
    response = case.call(base_url=gateway.http)
    checks = CHECKS if WHO[who] else [*CHECKS, ignored_auth]
    case.validate_response(response, checks=checks)
    if response.status_code >= 400:
        error = response.json()["error"]
        assert error.keys() == {"code", "message", "retryable"}
        kind = CODES[error["code"]]
        assert issubclass(kind, TellerlineError)
        assert error["retryable"] == kind.retryable
        assert FRAMEWORK.get(response.status_code) == kind.code or response.status_code == kind.http_status


@DOCUMENT.parametrize()
@settings(COMMON, max_examples=5)
def test_answers_are_documented(case: Case, gateway: Served) -> None:
    for who in WHO:
        probe(case, gateway, who)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_many_answers_are_documented(operation: str, gateway: Served) -> None:
    @given(case=OPERATIONS[operation].as_strategy())
    @settings(COMMON, max_examples=500)
    def any_of_them(case: Case) -> None:
        for who in WHO:
            probe(case, gateway, who)

    any_of_them()
