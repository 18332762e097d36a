"""Recorded conversations of every telephone protocol, frame by frame: what each message says, and what is sent."""

from typing import Any

import pytest

from schemas.errors import BadInput
from tests.harness.phone_protocols import CORES, does, recorded, sent, shown, wire


@pytest.mark.parametrize(("protocol", "name", "steps"), recorded(), ids=lambda it: it if isinstance(it, str) else "")
def test_a_conversation(protocol: str, name: str, steps: list[dict[str, Any]]) -> None:
    core = CORES[protocol]()
    for step in steps:
        if "do" in step:
            assert [sent(act) for act in does(core, step["do"])] == [expected(one) for one in step["out"]], step
        elif "refused" in step:
            with pytest.raises(BadInput) as refused:
                core.read(wire(step["in"]))
            assert refused.value.code == step["refused"], step
        else:
            assert [shown(event) for event in core.read(wire(step["in"]))] == [told(one) for one in step["says"]], step


def expected(given: Any) -> str:
    return given if isinstance(given, str) else sent(wire(given))


def told(given: Any) -> str:
    return given if isinstance(given, str) else f"owed {sent(wire(given['owed']))}"


def test_every_protocol_has_conversations() -> None:
    assert {protocol for protocol, _, _ in recorded()} == set(CORES)
