"""The prompts of the sweep, made from the service's own prompts, so that what is measured is what is asked."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from app.qa.doctor.offers import offers
from rules.load import load
from rules.locales import locale_rules
from schemas.answer import Question
from schemas.extraction import ExtractionOffer
from schemas.ids import EN_US, PayeeId
from schemas.payee import PayeeCandidate
from schemas.span import MoneyValue
from services.answering.generate import AnswerPrompt
from services.answering.knowledge import load_passages
from services.answering.retrieve import Retriever
from services.understanding.extraction.choices import choices, schema
from services.understanding.extraction.prompt import prompt_rules, user_text

COUNT = 256
IN_WORDS = (
    '\nAnswer as JSON with the keys "intent", "amount", "currency", "recipient_candidate_id", "needs_confirmation" and '
    '"fallback_code". Write nothing else.'
)
FILLER = "The bank publishes its conditions for every product and keeps them up to date. "
CHARACTERS_A_TOKEN = 4.6
SAVED = (
    "What is the overdraft fee?",
    "Is there a fee for using another bank's ATM?",
    "How do I raise my transfer limit?",
)


def schemas() -> dict[str, Any]:
    """The schemas a run may name: the six-field object, and the line of codes with every letter on offer."""
    amounts = tuple(MoneyValue(minor, None) for minor in (100, 200, 300, 400))
    payees = tuple(PayeeCandidate(PayeeId(f"p{i}"), "x", "", 0.5) for i in range(5))
    fullest = ExtractionOffer("x", EN_US, amounts=amounts, payees=payees)
    fields = {
        "intent": {"type": "string", "enum": ["transfer_money", "balance_inquiry", "card_lock", "qna"]},
        "amount": {"type": "string", "enum": ["a1", "a2"]},
        "currency": {"type": "string", "enum": ["USD", "JPY", "GBP"]},
        "recipient_candidate_id": {"type": "string", "enum": ["p_001", "p_002", "p_003"]},
        "needs_confirmation": {"type": "boolean"},
        "fallback_code": {"type": "string", "enum": ["ok", "ambiguous", "not_banking"]},
    }
    plain = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"object": plain, "line": schema(choices(fullest, prompt_rules()))}


def _extraction(suffix: str = "", tokens: int = 0) -> list[str]:
    rules = prompt_rules()
    prompts = []
    for offer in offers(COUNT):
        variable = user_text(offer, locale_rules(offer.locale).currency, rules)
        missing = int(tokens * CHARACTERS_A_TOKEN) - len(rules.system) - len(variable)
        filler = FILLER * (max(0, missing) // len(FILLER))
        prompts.append(f"{rules.system}\n{filler}\n{variable}{suffix}")
    return prompts


def _answers() -> list[str]:
    retriever = Retriever(load_passages())
    system = load("prompts/answer.yaml", AnswerPrompt).systems["en"]
    prompts = []
    for number in range(COUNT):
        text = SAVED[number % len(SAVED)]
        hits = retriever.search(Question(text, EN_US), date(2026, 11, 21)).hits
        context = "\n".join(f"[{i}] ({hit.passage.title}) {hit.passage.text}" for i, hit in enumerate(hits, start=1))
        prompts.append(f"{system}\n{context}\nquestion: {text} ({number})")
    return prompts


def write(folder: Path) -> None:
    """Write every dataset as JSON lines, the form `vllm bench serve --dataset-name custom` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"free": _extraction(), "words": _extraction(IN_WORDS), "qna": _answers()}
    made |= {f"real-{tokens}": _extraction(tokens=tokens) for tokens in (512, 1024, 2048, 4096)}
    for name, prompts in made.items():
        lines = [json.dumps({"prompt": prompt}, ensure_ascii=False) for prompt in prompts]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
