"""`tellerline bench extraction`: tokens of the prompt and of every shape of answer; latency against an endpoint."""

import asyncio
import json as json_module
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from app.qa.doctor.offers import offers
from app.qa.figures import Figure
from deploy.reporting import percentile, publish
from rules.locales import locale_rules
from schemas.errors import ModelUnavailable, TimedOut
from schemas.extraction import Extraction, ExtractionOffer
from schemas.ids import CustomerId
from services.guard.breaker import NEVER_OPENS, CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.choices import choices
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor
from services.understanding.extraction.prompt import ExtractionPrompt, prompt_rules, user_text

SHAPES: Final = {
    "long_keys": '{"intent":"transfer_money","amount_minor":500000,"currency":"JPY","recipient_candidate_id":"p_001",'
    '"needs_confirmation":true,"fallback_code":"ok"}',
    "long_keys_letters": '{"intent":"transfer_money","amount":"A","recipient":"V","needs_confirmation":true,'
    '"fallback_code":"ok"}',
    "short_keys": '{"i":"transfer","a":"a1","p":"p1","f":"ok"}',
    "array": '["transfer",1,2]',
    "line_with_numbers": '"transfer a1 p1 ok"',
    "line": '"transfer A V"',
    "bare_line": "transfer A V",
}
"""The same choice in every shape that was considered; `line` is what is used, `bare_line` is no JSON."""

TEMPLATE_TOKENS: Final = 14
"""What the chat template adds around a system and a user message."""


@dataclass
class ConcurrencyRun:
    """The results at one concurrency."""

    elapsed_ms: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    answer_tokens: int = 0


def token_figures(tokenizer_file: Path, cases: list[ExtractionOffer]) -> dict[str, Figure]:
    """Counts by the model's own tokenizer, of the canonical spelling."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file))

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    rules = prompt_rules()
    fixed = count(rules.system) + TEMPLATE_TOKENS
    variable = [count(user_text(case, locale_rules(case.locale).currency, rules)) for case in cases]
    longest = max(count(json_module.dumps(line)) for case in cases for line in choices(case, rules))
    figures: dict[str, Figure] = {f"{name}_tokens": count(text) for name, text in SHAPES.items()}
    return figures | {
        "prompt_fixed_tokens": fixed,
        "prompt_p50_tokens": fixed + percentile(variable, 50),
        "prompt_most_tokens": fixed + max(variable),
        "prompt_longest_offer_tokens": fixed + count(_longest_prompt(cases, rules)),
        "answer_most_tokens": longest,
    }


def _longest_prompt(cases: list[ExtractionOffer], rules: ExtractionPrompt) -> str:
    """A Japanese prompt with every field at its bound."""
    case = next(case for case in cases if case.locale == "ja-JP" and len(case.payees) > 1)
    words = case.text * 40
    full = ExtractionOffer(words, case.locale, (words,) * 3, case.spans, case.amounts * 4, case.payees * 5, case.asked)
    return user_text(full, "JPY", rules)


def unoffered(offer: ExtractionOffer, got: Extraction) -> bool:
    """Whether an extraction names anything that was not offered; must never be."""
    payees = {candidate.id for candidate in offer.payees}
    wrong_amount = got.amount is not None and got.amount not in offer.amounts
    return wrong_amount or (got.payee is not None and got.payee not in payees)


async def _one(extractor: GemmaExtractor, offer: ExtractionOffer, run: ConcurrencyRun) -> None:
    began = time.perf_counter()
    try:
        got = await extractor.extract(CustomerId("bench"), offer)
    except (TimedOut, ModelUnavailable) as error:
        run.ends[error.code] += 1
        return
    run.elapsed_ms.append((time.perf_counter() - began) * 1000)
    run.ends["unoffered" if unoffered(offer, got) else got.reason or "readable"] += 1
    if extractor.last_usage:
        run.prompt_tokens = max(run.prompt_tokens, extractor.last_usage.prompt_tokens)
        run.answer_tokens = max(run.answer_tokens, extractor.last_usage.completion_tokens)


async def measure(endpoint: ExtractionEndpoint, cases: list[ExtractionOffer], concurrency: int) -> ConcurrencyRun:
    """All cases, `concurrency` at once."""
    clock, run = SystemClock(), ConcurrencyRun()
    breaker = CircuitBreaker(clock, NEVER_OPENS)
    extractor = GemmaExtractor(endpoint, breaker, clock)
    waiting = iter(cases)

    async def worker() -> None:
        for offer in waiting:
            await _one(extractor, offer, run)

    try:
        await asyncio.gather(*(worker() for _ in range(concurrency)))
    finally:
        await extractor.close()
    return run


def _figures_of(run: ConcurrencyRun, concurrency: int) -> dict[str, Figure]:
    at = f"c{concurrency}"
    return {
        f"{at}_p50_ms": percentile(run.elapsed_ms, 50),
        f"{at}_p95_ms": percentile(run.elapsed_ms, 95),
        f"{at}_p99_ms": percentile(run.elapsed_ms, 99),
        f"{at}_readable": run.ends["readable"],
        f"{at}_unoffered": run.ends["unoffered"],
        f"{at}_other": "; ".join(f"{n} {end}" for end, n in run.ends.items() if end not in {"readable", "unoffered"}),
        f"{at}_prompt_tokens": run.prompt_tokens,
        f"{at}_answer_tokens": run.answer_tokens,
    }


def bench(
    url: Annotated[str, typer.Option(help="an OpenAI-compatible server")] = "",
    model: str = "google/gemma-4-E4B-it",
    key: str = "",
    concurrency: Annotated[str, typer.Option(help="how many at once, comma-separated")] = "1,8,16",
    requests: int = 120,
    deadline_s: float = 10.0,
    tokenizer: Annotated[Path | None, typer.Option(help="the model's tokenizer.json, to count tokens")] = None,
    json: Path | None = None,
) -> None:
    """Latency, readability and tokens of extraction on realistic ambiguous utterances."""
    if not url and tokenizer is None:
        raise typer.BadParameter("give --url, --tokenizer or both")
    cases = offers(requests)
    figures: dict[str, Figure] = {} if tokenizer is None else token_figures(tokenizer, cases)
    for level in [int(part) for part in concurrency.split(",")] if url else []:
        endpoint = ExtractionEndpoint(url, model, key, deadline_s=deadline_s, in_flight=level)
        asyncio.run(measure(endpoint, cases[:level], level))  # connections and grammar, not timed
        figures |= _figures_of(asyncio.run(measure(endpoint, cases, level)), level)
    publish("extraction", f"{requests} ambiguous utterances in English and Japanese", figures, json)
