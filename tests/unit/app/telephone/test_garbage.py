"""Whatever comes on a telephone line, a protocol says what it is or refuses it: nothing else is raised, or told."""

import re
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.transports.telephone.line import Audio, CallTransport, Wire
from schemas.errors import BadInput
from tests.harness.phone_protocols import CORES, does, recorded, wire

TALKS = {protocol: [steps for name, _, steps in recorded() if name == protocol] for protocol in CORES}
SAID = {
    protocol: [step["in"] for talk in talks for step in talk if "says" in step] for protocol, talks in TALKS.items()
}
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=40) | st.floats()
JUNK = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=9), part, max_size=3),
    max_leaves=6,
)


@st.composite
def spoilt(draw: st.DrawFn, message: Any) -> Wire:
    """A message with something wrong in it."""
    said = wire(message)
    kind = draw(st.sampled_from(["cut", "bytes", "swapped", "field"]))
    if kind == "field" and isinstance(message, dict) and "hex" not in message:
        return orjson.dumps(_with(draw, message), option=orjson.OPT_NON_STR_KEYS).decode()
    if kind == "swapped":
        return said.encode() if isinstance(said, str) else said.hex()
    if isinstance(said, str):
        at = draw(st.integers(0, len(said)))
        return said[:at] + (draw(st.text(max_size=5)) if kind == "bytes" else "")
    at = draw(st.integers(0, len(said)))
    return said[:at] + (draw(st.binary(max_size=5)) + said[at + 1 :] if kind == "bytes" else b"")


def _with(draw: st.DrawFn, message: dict[str, Any]) -> dict[str, Any]:
    """The object with one field, at any depth, of another kind, or none."""
    name = draw(st.sampled_from(sorted(message)))
    inner = message[name]
    if isinstance(inner, dict) and inner and draw(st.booleans()):
        return message | {name: _with(draw, inner)}
    if draw(st.booleans()):
        return {key: value for key, value in message.items() if key != name}
    return message | {name: draw(JUNK.filter(_jsonable))}


def _jsonable(value: Any) -> bool:
    try:
        orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return False
    return True


@pytest.mark.parametrize("protocol", sorted(CORES))
@settings(max_examples=150)
@given(data=st.data())
def test_garbage_is_refused_or_means_nothing(protocol: str, data: st.DataObject) -> None:
    core = CORES[protocol]()
    talks = TALKS[protocol]
    talk = talks[data.draw(st.integers(0, len(talks) - 1))]
    for step in talk[: data.draw(st.integers(0, len(talk)))]:
        if "do" in step:
            does(core, step["do"])
        elif "says" in step:
            core.read(wire(step["in"]))
    for _ in range(data.draw(st.integers(1, 3))):
        said = SAID[protocol]
        bad = data.draw(spoilt(said[data.draw(st.integers(0, len(said) - 1))]))
        refused = refusal(core, bad)
        if refused is not None:
            assert re.fullmatch(r"[a-zA-Z0-9 ,.:'_/-]*", refused.message)
            assert all(len(act) < 1_000 for act in core.refuse(refused) if isinstance(act, str | bytes))
            return


def refusal(core: CallTransport, message: Wire) -> BadInput | None:
    """What a message is refused for; one that is not means no more sound than it has."""
    try:
        events = core.read(message)
    except BadInput as refused:
        return refused
    assert all(len(event.data) <= 64 * 1024 for event in events if isinstance(event, Audio))
    return None
