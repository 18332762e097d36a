"""Record what a real vLLM sends, for the ordinary test run to replay: `python -m tests.vllm.record URL [MODEL]`.

Writes tests/data/vllm/recorded.json.xz. The requests are the clients' own; only the answers' length is cut, to keep the
file small. `python -m deploy.vllm.cpu` serves one on a CPU.
"""

import asyncio
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import httpx

from schemas.ids import EN_US, JA_JP
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.quote import Library
from services.guard.breaker import CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor
from tests.contract.answerer_suite import ask
from tests.contract.extractor_suite import CUSTOMER, adversarial_cases
from tests.fakes.gemma import Body, FakeGemma, completion, stream

FILE = Path(__file__).parents[1] / "data" / "vllm" / "recorded.json.xz"
EXTRACTIONS = 8
ANSWER_TOKENS = 24
QUESTIONS = (("What is the overdraft fee?", EN_US), ("海外送金の手数料はいくらですか", JA_JP))
CLOCK = SystemClock()


async def extraction_bodies(model: str) -> list[Body]:
    """The bodies of the extraction requests of the first hostile offers."""
    async with FakeGemma(lambda _: completion('"?"')) as server:
        client = GemmaExtractor(ExtractionEndpoint(server.url, model), CircuitBreaker(CLOCK), CLOCK)
        for case in adversarial_cases(EXTRACTIONS):
            await client.extract(CUSTOMER, case.offer)
        await client.close()
        return list(server.requests)


async def answer_bodies(model: str) -> list[Body]:
    """The bodies of the QnA requests of a few questions."""
    async with FakeGemma(lambda _: stream("NONE")) as server:
        client = GemmaAnswerer(AnswerEndpoint(server.url, model), Library.load(), CircuitBreaker(CLOCK), CLOCK)
        for text, locale in QUESTIONS:
            await ask(client, text, locale)
        await client.close()
        return [body | {"max_tokens": ANSWER_TOKENS} for body in server.requests]


async def record(url: str, name: str, body: Body) -> dict[str, Any]:
    """One reply as it came: status, type, and the body's parts."""
    async with (
        httpx.AsyncClient(timeout=120, trust_env=False) as client,
        client.stream("POST", f"{url}/v1/chat/completions", json=body) as reply,
    ):
        parts = [part.decode() async for part in reply.aiter_bytes()]
    return {"name": name, "status": reply.status_code, "type": reply.headers["content-type"], "parts": parts}


async def main(url: str, model: str) -> None:
    """Record every request, sound ones and ones that the server refuses."""
    asked, told = await extraction_bodies(model), await answer_bodies(model)
    too_long = [{"role": "user", "content": "fee " * 20_000}]
    wanted = [(f"extraction {number}", body) for number, body in enumerate(asked)]
    wanted += [(f"answer {number}", body) for number, body in enumerate(told)]
    wanted += [
        ("refused extraction: no such model", asked[0] | {"model": "none"}),
        ("refused extraction: too long", asked[0] | {"messages": too_long}),
        ("refused extraction: no schema", asked[0] | {"response_format": {"type": "json_schema"}}),
        ("refused answer: no such model", told[0] | {"model": "none"}),
        ("refused answer: too long", told[0] | {"messages": too_long}),
    ]
    async with httpx.AsyncClient(trust_env=False) as client:
        version = (await client.get(f"{url}/version")).json()["version"]
    replies = [await record(url, name, body) for name, body in wanted]
    FILE.parent.mkdir(exist_ok=True)
    whole = {"engine": f"vLLM {version}", "model": "random weights", "replies": replies}
    FILE.write_bytes(lzma.compress(json.dumps(whole, ensure_ascii=False, indent=1).encode(), preset=9))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1].rstrip("/"), sys.argv[2] if len(sys.argv) > 2 else "google/gemma-4-E4B-it"))
