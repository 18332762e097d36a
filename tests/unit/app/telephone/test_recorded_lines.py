"""Recorded conversations of every telephone protocol, frame by frame: what each message says, and what is sent."""

from typing import Any

import pytest

from tests.harness.phone_protocols import CORES, does, read, recorded, sent, wire


@pytest.mark.parametrize(("protocol", "name", "steps"), recorded(), ids=lambda it: it if isinstance(it, str) else "")
def test_a_conversation(protocol: str, name: str, steps: list[dict[str, Any]]) -> None:
    core = CORES[protocol]()
    for step in steps:
        if "do" in step:
            assert [sent(act) for act in does(core, step["do"])] == [expected(one) for one in step["out"]], step
        elif "says" in step:
            assert read(core, wire(step["in"])) == [told(one) for one in step["says"]], step
        else:  # `refused` is passed over, `ended` ends the call
            (way,) = step.keys() & {"refused", "ended"}
            assert read(core, wire(step["in"])) == [f"{way} {step[way]}"], step


def expected(given: Any) -> str:
    return given if isinstance(given, str) else sent(wire(given))


def told(given: Any) -> str:
    return given if isinstance(given, str) else f"owed {sent(wire(given['owed']))}"


def test_every_protocol_has_conversations() -> None:
    assert {protocol for protocol, _, _ in recorded()} == set(CORES)
