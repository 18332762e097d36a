"""The sweep over drafted tokens, against servers that draft as many as they are told and count what they accept."""

import itertools
import json
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from deploy.vllm.gpu import drafting
from deploy.vllm.gpu.drafting import EVERY, SUMMARY, processor, summary
from deploy.vllm.gpu.order import DRAFTING
from deploy.vllm.gpu.record import GpuSession, Row
from deploy.vllm.gpu.servers import DRAFTED
from deploy.vllm.gpu.session import steps
from tests.fakes.gemma import Body, FakeGemma, Reply, stream

COUNTERS = """vllm:spec_decode_num_drafts_total{{m="x"}} {drafts}
vllm:spec_decode_num_accepted_tokens_total{{m="x"}} {accepted}
"""
STEP_S = 0.002


class Drafting(FakeGemma):
    """One chunk a step, each of one token and the `drafted` that are all accepted; a first token alone."""

    def __init__(self, drafted: int, asked: list[int]) -> None:
        super().__init__(self._answer)
        self.drafted, self.asked = drafted, asked
        self.drafts = self.accepted = 0

    def _answer(self, body: Body) -> Reply:
        self.asked.append(self.drafted)
        passes = -(-(body["max_tokens"] - 1) // (self.drafted + 1))
        if self.drafted:
            self.drafts, self.accepted = self.drafts + passes, self.accepted + passes * self.drafted
            self.metrics = COUNTERS.format(drafts=self.drafts, accepted=self.accepted)
        return stream(*[""] * (passes + 1), drip_s=STEP_S)


async def test_servers_are_asked_in_turn_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "ROUNDS", 2)
    monkeypatch.setattr(drafting, "TOKENS", (13, 25))
    asked: list[int] = []
    async with AsyncExitStack() as stack:
        fakes = {n: await stack.enter_async_context(Drafting(DRAFTED.get(n, 0), asked)) for n in DRAFTING}
        session = GpuSession(tmp_path, {name: fake.url for name, fake in fakes.items()}, time.monotonic() + 900)
        session.pids = dict.fromkeys(DRAFTING, os.getpgid(0))
        await steps(session, "warm,mtp")
    tables = json.loads((tmp_path / "session.json").read_text())["tables"]
    assert not [title for title in tables if title.endswith("failed")], tables
    assert asked[15:] == [0, 2, 2, 3, 3] * 2 + [2, 2, 3, 3, 0] * 2  # after two of each side by side, and one
    warmed = tables["warmed side by side, answers of 256 tokens"]
    assert all(row["first_ms"] > 0 and row["second_ms"] > 0 for row in warmed)
    every = tables[EVERY]
    assert len(every) == 2 * 2 * 5
    assert [a["at_s"] < b["at_s"] for a, b in itertools.pairwise(every)] == [True] * 19
    assert all(row["chunks"] == row["steps"] + 2 for row in every)  # the first token's and the last, which has none
    rows = {(row["server"], row["tokens"]): row for row in tables[SUMMARY]}
    assert [key[0] for key in rows] == list(DRAFTING) * 2
    for row in rows.values():
        assert row["tokens a step"] == pytest.approx(1 + row["drafted"])
        assert row["ms a step"] >= 700 * STEP_S  # less the usual first token, which a busy machine delays
        assert row["fastest_ms"] <= row["whole p50_ms"] <= row["slowest_ms"]
        assert row["longest pause_ms"] >= 1000 * STEP_S
    assert rows["extraction", 25]["times BF16"] == 1
    assert rows["qna3", 25]["times BF16"] > 1.5


async def test_a_server_that_fails_costs_the_rest_no_warmth(tmp_path: Path) -> None:
    async with Drafting(0, []) as server:
        urls = {"extraction": server.url, "plain": "http://127.0.0.1:9"}
        session = GpuSession(tmp_path, urls, time.monotonic() + 900, quick=True)
        await steps(session, "warm")
    rows = {row["server"]: row for row in session.tables["warmed side by side, answers of 256 tokens"]}
    assert rows["extraction"]["second_ms"] > 0
    assert "ConnectError" in rows["plain"]["error"]


async def test_a_sweep_that_breaks_off_keeps_its_summary(tmp_path: Path) -> None:
    def broken_at_256(body: Body) -> Reply:
        late = body["messages"][-1]["content"].endswith("8001")
        return Reply([b""], status=500) if late else stream(*[""] * 4, drip_s=STEP_S)

    async with FakeGemma(broken_at_256) as server:
        session = GpuSession(tmp_path, {"extraction": server.url}, time.monotonic() + 900)
        await steps(session, "mtp")
    assert "mtp failed" in session.tables
    assert [(row["tokens"], row["answers"]) for row in session.tables[SUMMARY]] == [(128, 1), (256, 1)]


def test_a_drift_and_a_pause_show() -> None:
    def one(whole_ms: float, pause_ms: float = 5.0, first_ms: float = 20.0) -> Row:
        common = {"server": "qna", "tokens": 121, "whole_ms": whole_ms, "first token_ms": first_ms}
        return common | {"steps": 60, "accepted": 60, "longest pause_ms": pause_ms}

    row = summary([one(300), one(300), one(300), one(380), one(380), one(480), one(480), one(480, 90)])[0]
    assert (row["early p50_ms"], row["late p50_ms"]) == (300, 480)
    assert (row["fastest_ms"], row["slowest_ms"]) == (300, 480)
    assert (row["ms a token"], row["ms a step"], row["tokens a step"]) == (3, 6, 2)


def test_chunks_that_came_together_do_not_make_an_answer_quick() -> None:
    def one(first_ms: float) -> Row:
        common = {"server": "extraction", "tokens": 101, "whole_ms": 520, "first token_ms": first_ms}
        return common | {"steps": 100, "accepted": 0, "longest pause_ms": 5.0}

    row = summary([one(20), one(20), one(519)])[0]
    assert (row["ms a token"], row["times BF16"]) == (5, 1)


def test_what_the_kernel_tells_of_a_group(tmp_path: Path) -> None:
    for pid, group, ran in ((10, 10, "3000000000 500000000 7"), (11, 10, "1000000000 0 2"), (12, 12, "9000000000 0 1")):
        thread = tmp_path / str(pid) / "task" / str(pid)
        thread.mkdir(parents=True)
        (thread / "schedstat").write_text(ran)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (VLLM::Engine (x)) S 1 {group} {group} 0")
    (tmp_path / "13").mkdir()
    assert processor(10, tmp_path) == (4.0, 0.5)
    assert processor(99, tmp_path) is None
    assert processor(None, tmp_path) is None
