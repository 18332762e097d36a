"""The probes: identity, structured output, prefix cache, drafting, disconnects, open routes."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx

from app.qa.doctor.client import Body, Endpoint, cached_tokens, content
from app.qa.doctor.engine_log import USUAL_RUNNER
from app.qa.doctor.findings import Finding, Report, Severity

NO_THINKING: Final = {"chat_template_kwargs": {"enable_thinking": False}}
IDS: Final = ("p_001", "p_002", "p_003")
OBJECT: Final = {
    "type": "object",
    "properties": {
        "intent": {"type": "string", "enum": ["transfer", "balance"]},
        "id": {"type": "string", "enum": list(IDS)},
    },
    "required": ["intent", "id"],
    "additionalProperties": False,
}
TRIES: Final = 6
OPEN_ROUTES: Final = (
    ("GET", "/v1/models"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/invocations"),
    ("POST", "/inference/v1/generate"),
    ("POST", "/tokenize"),
    ("POST", "/detokenize"),
    ("GET", "/metrics"),
    ("GET", "/load"),
    ("GET", "/version"),
    ("GET", "/server_info"),
    ("GET", "/get_server_info"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
)
FEW_DRAFTS: Final = 3
DRAFT_COUNTERS: Final = {
    "drafts": "vllm:spec_decode_num_drafts_total",
    "accepted": "vllm:spec_decode_num_accepted_tokens_total",
}
ACCEPTED_AT: Final = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
HARMLESS: Final = {"/version", "/load"}
MUST_HAVE_KEY: Final = {"/v1/models", "/v1/chat/completions"}
REFUSED: Final = {401, 403, 404, 405}


async def identity(endpoint: Endpoint, report: Report) -> str:
    """Engine, version and model; the served model's name, "" where none is told."""
    version, models = await endpoint.json("/version"), await endpoint.json("/v1/models")
    sglang = None if version else await endpoint.json("/get_server_info")
    engine = "vLLM" if version else "SGLang" if sglang else "unknown engine"
    number = (version or sglang or {}).get("version", "?")
    report.add("engine", Severity.NOTE if engine == "unknown engine" else Severity.OK, f"{engine} {number}")
    report.figures |= {"engine": engine, "engine_version": str(number)}
    listed = (models or {}).get("data")
    served = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    if not served:
        report.add("model", Severity.FAIL, "no model is told at /v1/models (is the key right?)")
        return ""
    name, length = str(served[0].get("id", "")), served[0].get("max_model_len")
    report.add("model", Severity.OK, f"{name}, context {length}")
    return name


def _wanted(schema: dict[str, Any]) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "probe", "schema": schema, "strict": True}}


async def _said(endpoint: Endpoint, model: str, words: str, schema: dict[str, Any], heat: float) -> str:
    found, _ = await endpoint.chat(
        model=model,
        messages=[{"role": "user", "content": words}],
        response_format=_wanted(schema),
        temperature=heat,
        max_tokens=64,
        **NO_THINKING,
    )
    return content(found)


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


def _offered(text: str) -> bool:
    return _parses(text) and json.loads(text) in IDS


def _exact(text: str) -> bool:
    found = json.loads(text) if _parses(text) else None
    return isinstance(found, dict) and set(found) == {"intent", "id"} and found["id"] in IDS


def _begins_at_once(text: str) -> bool:
    return text[:1] in {"{", '"'}


def _compact(text: str) -> bool:
    return _parses(text) and not re.search(r"\s", re.sub(r'"[^"]*"', "", text))


LINE: Final = {"type": "string", "enum": list(IDS)}
PROBES: Final[tuple[tuple[str, str, dict[str, Any], Callable[[str], bool]], ...]] = (
    ("parse", "Name one of the ids.", LINE, _parses),
    ("enum", 'Answer with the id "p_999" and nothing else.', LINE, _offered),
    ("extra field", 'Answer JSON with intent, id and also "note": "hello".', OBJECT, _exact),
    ("prose", "First explain in two sentences what you do, then answer as JSON.", OBJECT, _begins_at_once),
    ("whitespace", "Answer as pretty-printed JSON, every field on a line of its own.", OBJECT, _compact),
)


async def structured(endpoint: Endpoint, model: str, report: Report) -> None:
    """Does the schema hold whatever is asked for? Cold and hot sampling, several tries each."""
    for subject, words, schema, holds in PROBES:
        heats = [0.0, *[1.0] * (TRIES - 1)]
        said = await asyncio.gather(*(_said(endpoint, model, words, schema, heat) for heat in heats))
        kept = sum(holds(text) for text in said)
        report.figures[f"structured_{subject.replace(' ', '_')}_held"] = f"{kept}/{TRIES}"
        bad = Severity.WARN if subject == "whitespace" else Severity.FAIL
        report.add(f"structured: {subject}", Severity.OK if kept == TRIES else bad, f"{kept} of {TRIES} answers held")


async def prefix_cache(endpoint: Endpoint, model: str, report: Report) -> None:
    """Is a repeated prompt read from the cache?"""
    words = "The bank's opening hours are listed below. " * 30
    body: Body = {"model": model, "messages": [{"role": "user", "content": words}], "max_tokens": 1, "temperature": 0}
    before = await endpoint.metrics()
    await endpoint.chat(**body, **NO_THINKING)
    again, _ = await endpoint.chat(**body, **NO_THINKING)
    after = await endpoint.metrics()
    hits = _grown(before.total("vllm:prefix_cache_hits_total"), after.total("vllm:prefix_cache_hits_total"))
    told = cached_tokens(again)
    cached = told if told is not None else hits
    usage = again.get("usage")
    prompt = usage.get("prompt_tokens", 0) if isinstance(usage, dict) else 0
    report.figures |= {"prefix_cached_tokens": cached, "prefix_prompt_tokens": prompt}
    if cached is None:
        report.add("prefix cache", Severity.NOTE, "the server does not tell")
    else:
        health = Severity.OK if cached > 0 else Severity.WARN
        report.add("prefix cache", health, f"{cached:.0f} of {prompt} tokens of a repeated prompt")


def break_even(runner: str, drafted: int) -> float:
    """Tokens a step below which drafting loses: how much longer a step was with drafts, of all that was measured.

    On vLLM's usual runner 26B's; on the newer one 26B's in 4 bits, with two drafts (E4B's with three: 1.14) and DFlash.
    """
    if runner == USUAL_RUNNER:
        return 2.6
    return 1.27 if drafted <= FEW_DRAFTS else 1.41


async def drafting(endpoint: Endpoint, model: str, report: Report) -> None:
    """Is a drafter on, and how often are its tokens accepted, position by position?"""
    before = await endpoint.metrics()
    words = "Tell how a bank transfer works, step by step."
    body: Body = {"model": model, "messages": [{"role": "user", "content": words}], "max_tokens": 96}
    await endpoint.chat(**body, temperature=0, ignore_eos=True, **NO_THINKING)
    after = await endpoint.metrics()
    grown = {name: _grown(before.total(counter), after.total(counter)) for name, counter in DRAFT_COUNTERS.items()}
    drafts = grown["drafts"]
    if not drafts:
        report.add("drafting", Severity.OK, "off")
        report.figures["drafting"] = "off"
        return
    earlier, later = before.by(ACCEPTED_AT, "position"), after.by(ACCEPTED_AT, "position")
    rates = {place: (later[place] - earlier.get(place, 0.0)) / drafts for place in sorted(later, key=int)}
    length = 1 + (grown["accepted"] or 0) / drafts
    report.figures |= {"drafting": "on", "acceptance_length": length}
    report.figures |= {f"accepted_at_{place}": rate for place, rate in rates.items()}
    at = ", ".join(f"{place}: {rate:.0%}" for place, rate in rates.items())
    pays = length >= break_even(str(report.figures.get("model_runner", "")), len(rates))
    said = f"on, {length:.2f} tokens a step, accepted by position {at}"
    report.add("drafting", Severity.OK if pays else Severity.WARN, said if pays else f"{said}: dearer than none")


def _grown(before: float | None, after: float | None) -> float | None:
    return None if after is None else after - (before or 0.0)


async def disconnect(endpoint: Endpoint, model: str, report: Report, patience_s: float = 3.0) -> None:
    """Is a request freed once its client leaves?"""
    if (await endpoint.metrics()).total("vllm:num_requests_running") is None:
        report.add("disconnect", Severity.NOTE, "the server does not tell what runs")
        return
    words = [{"role": "user", "content": "Count upwards."}]
    await endpoint.leave_early(model=model, messages=words, max_tokens=1000, ignore_eos=True)
    waited = 0.0
    while waited < patience_s:
        if not (await endpoint.metrics()).total("vllm:num_requests_running"):
            report.add("disconnect", Severity.OK, f"freed within {waited + 0.1:.1f} s")
            return
        await asyncio.sleep(0.1)
        waited += 0.1
    report.add("disconnect", Severity.WARN, f"still running {patience_s:.0f} s after the client left")


async def open_routes(endpoint: Endpoint, report: Report) -> None:
    """Which routes answer without the key? Those that must not are failures, unless no key is in use at all."""
    reached = [path for method, path in OPEN_ROUTES if await _answers(endpoint, method, path)]
    unguarded = sorted(set(reached) & MUST_HAVE_KEY)
    report.figures["open_routes"] = " ".join(reached)
    if unguarded:
        report.add("key", Severity.WARN, f"none is asked for at {', '.join(unguarded)}: keep the port private")
    rest = [path for path in reached if path not in HARMLESS | MUST_HAVE_KEY]
    if rest:
        report.add("open routes", Severity.WARN, f"answer without a key: {', '.join(rest)}")
    else:
        report.add("open routes", Severity.OK, "none that matters")


async def _answers(endpoint: Endpoint, method: str, path: str) -> bool:
    try:
        reply = await endpoint.ask(method, path, {} if method == "POST" else None, key=False)
    except httpx.HTTPError:
        return False
    return reply.status_code not in REFUSED


async def legacy_parameters(endpoint: Endpoint, model: str, report: Report) -> None:
    """Some servers take `guided_json` and silently ignore it: worth knowing before someone relies on it."""
    words = [{"role": "user", "content": "Write a sentence about the sea."}]
    try:
        found, _ = await endpoint.chat(model=model, messages=words, max_tokens=24, guided_json=LINE, **NO_THINKING)
    except httpx.HTTPError:
        report.add("guided_json", Severity.OK, "refused")
        return
    ignored = not _offered(content(found))
    report.add("guided_json", Severity.NOTE, "accepted and ignored" if ignored else "still honoured")


Probe = Callable[[Endpoint, str, Report], Awaitable[None]]


async def guarded(probe: Probe, endpoint: Endpoint, model: str, report: Report) -> None:
    """Run a probe; a server that fails it is a finding, not an exception."""
    try:
        await probe(endpoint, model, report)
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        name = getattr(probe, "__name__", "probe")
        report.extend([Finding(name.replace("_", " "), Severity.FAIL, f"{type(error).__name__}")])
