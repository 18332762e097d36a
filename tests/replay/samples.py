"""Results as a replay leaves them, made by a seeded generator: for tests of scores, comparison and the report."""

from typing import Any

import numpy as np

from app.qa.replay.manifests.manifest import Expectation, ExpectedSpan, MoneyMove
from app.qa.replay.records.journal import Run, RunHead
from app.qa.replay.records.record import (
    CandidateRecord,
    EvidenceRecord,
    HypothesisRecord,
    PayeeSearchRecord,
    ReadingRecord,
    SpanRecord,
    Stage,
    TurnRecord,
    TurnResult,
    TurnTiming,
)

HEAD = RunHead("m" * 64, "r" * 64, "bundled", "", "0.1.0", "in process", "sample", 1)
FIFTY = {"amount_minor": 5000, "currency": "USD"}


def turn(**changes: Any) -> TurnRecord:
    """A transfer of fifty dollars to Catherine, read back; nothing judged unless `expect` is given."""
    given: dict[str, Any] = {
        "case": "c1",
        "turn": 1,
        "locale": "en-US",
        "heard": "send fifty dollars to catherine",
        "intent": "transfer_money",
        "slots": {"amount": FIFTY, "payee": "p1"},
        "route": "fast",
        "decision": "confirm",
        "reply": "transfer.read_back",
    }
    return TurnRecord(**(given | changes))


def result(record: TurnRecord | None = None, **changes: Any) -> TurnResult:
    record = record or turn(**changes)
    stages = (Stage(name="asr", start_ms=0, ms=20.0), Stage(name="normalize", start_ms=20, ms=0.5))
    timing = TurnTiming(case=record.case, turn=record.turn, audio_s=2.5, total_ms=21.0, stages=stages)
    return TurnResult(record=record, timing=timing)


def run(*records: TurnRecord) -> Run:
    return Run(HEAD, tuple(result(record) for record in records))


def many(count: int, seed: int = 7) -> Run:
    """`count` turns as rich as real ones: hypotheses, spans, candidates, evidence, stages."""
    random = np.random.default_rng(seed)
    names = ("Catherine Nguyen", "Sean O'Brien", "佐藤 健", "<b>Mallory</b>")
    return Run(HEAD, tuple(_rich(i, random, names) for i in range(count)))


def _rich(i: int, random: np.random.Generator, names: tuple[str, ...]) -> TurnResult:
    amount = int(random.integers(1, 900))
    name = names[int(random.integers(len(names)))]
    text = f"send {amount} dollars to {name} please"
    at = text.index(name)
    good = bool(random.random() < 0.9)
    money = {"amount_minor": amount * 100, "currency": "USD"}
    scores = sorted((float(s) for s in random.random(3)), reverse=True)
    candidates = tuple(CandidateRecord(id=f"p{k + 1}", name=names[k], score=s) for k, s in enumerate(scores))
    other = ReadingRecord(kind="number", value=str(amount), rule="number.en@2")
    span = SpanRecord(
        kind="money", surface=f"{amount} dollars", start=5, end=13 + len(str(amount)), value=money, rule="money.en@3",
        readings=(other,), rejected=(other,),
    )  # fmt: skip
    record = turn(
        case=f"case-{i:05d}",
        locale="ja-JP" if name[0] > "z" else "en-US",
        tags={"condition": ("clean", "telephone", "noisy")[i % 3], "voice": f"v{i % 7}"},
        heard=text,
        expect=_expected(text, money, good=good),
        hypotheses=tuple(HypothesisRecord(text=text + "!" * n, avg_logprob=-0.1 * (n + 1)) for n in range(4)),
        spans=(span,),
        payee=PayeeSearchRecord(
            heard=name, start=at, end=at + len(name), outcome="clear", choice="p1", candidates=candidates
        ),
        slots={"amount": money, "payee": "p1"},
        evidence=(EvidenceRecord(slot="amount", surface=f"{amount} dollars", start=5, end=12, rule="money.en@3"),),
        confidence=float(random.random()),
        rule="transfer.en@4",
        proposal=MoneyMove(amount_minor=amount * 100, currency="USD", payee="p1"),
        spoken=f"You want to send {amount} dollars to {name}. Is that right?",
        route=("fast", "fast", "fast", "clarify", "extract")[i % 5],
    )
    return TurnResult(record=record, timing=_timed(record.case, random))


def _expected(text: str, money: dict[str, object], *, good: bool) -> Expectation:
    return Expectation(
        transcript=text if good else text.replace("send", "sent"),
        intent="transfer_money" if good else "bill_payment",
        decision="confirm",
        payee="p1",
        slots={"amount": money, "payee": "p1"},
        spans=(ExpectedSpan(kind="money", value=money),),
    )


def _timed(case: str, random: np.random.Generator) -> TurnTiming:
    ms = [float(m) for m in random.gamma(3, 8, size=4)]
    stages = tuple(
        Stage(name=n, start_ms=sum(ms[:k]), ms=ms[k]) for k, n in enumerate(("asr", "normalize", "payee", "decide"))
    )
    return TurnTiming(case=case, turn=1, audio_s=2.5, total_ms=sum(ms), stages=stages)
