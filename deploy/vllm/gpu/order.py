"""The steps of a session in the order of worth for what is not known yet, and the servers that each asks."""

from __future__ import annotations

from dataclasses import dataclass

from deploy.vllm.gpu.servers import DRAFTED, NAMES

BF16 = "extraction"
"""The server without a drafter that the drafting ones are held against."""
DRAFTING = (BF16, *sorted(DRAFTED, key=lambda name: DRAFTED[name]))
ANSWERING = ("qna", "qna_v1", BF16)
"""Those asked for the first token of answers: as shipped, with the older model runner, and without a drafter."""


@dataclass(frozen=True)
class Step:
    """`needs_s`: one that would not fit any more is skipped, and none may take twice its time.

    It is skipped as well where none of its `servers` is up; without any it takes those there are.
    """

    name: str
    needs_s: float
    servers: tuple[str, ...] = (BF16,)


STEPS: tuple[Step, ...] = (
    Step("warm", 40, ()),
    Step("doctor", 25),
    Step("qna", 85, ANSWERING),
    Step("mtp", 50, DRAFTING),
    Step("plain", 30, ("plain",)),
    Step("profiler", 10),
    Step("latency", 20),
    Step("adversarial", 10),
    Step("first_token", 40),
    Step("decode", 55, (BF16, "qna", "fp8")),
    Step("load", 15),
    Step("shapes", 15),
)


def chosen(only: str) -> list[Step]:
    """The steps named in `only`, comma-separated, in our order; all where it is empty. Raises ValueError of others."""
    names = list(filter(None, only.split(",")))
    if unknown := set(names) - {step.name for step in STEPS}:
        raise ValueError(f"no such step: {', '.join(sorted(unknown))}")
    return [step for step in STEPS if not names or step.name in names]


def needed(only: str) -> list[str]:
    """The servers that the chosen steps ask, in the order in which they are started."""
    asked = {server for step in chosen(only) for server in step.servers}
    return [name for name in NAMES if name in asked]
