"""The extraction endpoint: a small model chooses among what code offers, within a deadline, or the caller is asked."""

import asyncio
from dataclasses import dataclass
from typing import Final

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam
from openai.types.shared_params import ResponseFormatJSONSchema

from rules.locales import locale_rules
from schemas.endpoint import ModelEndpoint
from schemas.errors import ModelUnavailable, TimedOut
from schemas.extraction import Extraction, ExtractionOffer, Fallback
from schemas.ids import CustomerId
from services.guard import Attempts
from services.ports import Breaker, Clock
from services.understanding.extraction.choices import Choice, choices, chosen_of, schema
from services.understanding.extraction.ground import ground
from services.understanding.extraction.prompt import ExtractionPrompt, prompt_rules, user_text
from services.understanding.extraction.reply import Completion, Unreadable, Usage, completion, line, read_bounded

MAX_ANSWER_TOKENS: Final = 16
"""The longest line is 5 tokens as the model's own tokenizer writes it; the rest allows for odd spellings."""


@dataclass(frozen=True, slots=True)
class ExtractionEndpoint(ModelEndpoint):
    """Where the model that extracts is served, and how much it may be asked. `deadline_s` includes the waiting."""

    deadline_s: float = 1.2
    in_flight: int = 16
    waiting: int = 32


class GemmaExtractor:
    """`Extractor` over an OpenAI-compatible server (vLLM). One a process; close it at the end."""

    def __init__(self, endpoint: ExtractionEndpoint, breaker: Breaker, clock: Clock) -> None:
        self._endpoint = endpoint
        self._attempts = Attempts(breaker, endpoint.in_flight + endpoint.waiting)
        self._clock = clock
        self._rules: ExtractionPrompt = prompt_rules()
        self._slots = asyncio.Semaphore(endpoint.in_flight)
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.url.rstrip("/") + "/v1",
            api_key=endpoint.key or "none",
            max_retries=0,
            timeout=endpoint.deadline_s,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False),
        )
        self.last_usage: Usage | None = None
        """Token counts of the latest reply, for benchmarks."""

    async def extract(self, customer: CustomerId, offer: ExtractionOffer) -> Extraction:  # noqa: ARG002 - the port's signature; the offer holds only this customer's payees
        """Choose among what was offered. Raises ModelUnavailable, TimedOut. Cancel it, and the server stops too."""
        started = self._clock.monotonic()
        full = ModelUnavailable("too many extractions wait already", retry_after_s=self._endpoint.deadline_s)
        with self._attempts.begin(full, ModelUnavailable("the extraction endpoint keeps failing")):
            try:
                async with asyncio.timeout(self._endpoint.deadline_s), self._slots:
                    reply = await self._ask(offer)
            except TimeoutError:
                raise TimedOut("no extraction within the deadline") from None
        self.last_usage = reply.usage
        return self._extraction(offer, reply, (self._clock.monotonic() - started) * 1000)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, offer: ExtractionOffer) -> Completion:
        currency = locale_rules(offer.locale).currency
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": self._rules.system},
            {"role": "user", "content": user_text(offer, currency, self._rules)},
        ]
        wanted: ResponseFormatJSONSchema = {
            "type": "json_schema",
            "json_schema": {"name": "code", "schema": schema(choices(offer, self._rules)), "strict": True},
        }
        try:
            async with self._client.chat.completions.with_streaming_response.create(
                model=self._endpoint.model,
                messages=messages,
                response_format=wanted,
                temperature=0,
                max_tokens=MAX_ANSWER_TOKENS,
                extra_body={
                    "chat_template_kwargs": {"enable_thinking": False},
                    "include_reasoning": False,
                    "cache_salt": self._endpoint.tenant,
                },
            ) as response:
                return completion(await read_bounded(response.iter_bytes()))
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise TimeoutError from None
        except (openai.APIError, httpx2.HTTPError) as error:  # httpx2's own: a body that breaks off
            raise ModelUnavailable(f"the extraction endpoint failed: {type(error).__name__}") from error

    def _extraction(self, offer: ExtractionOffer, reply: Completion, elapsed_ms: float) -> Extraction:
        reason = ""
        try:
            chosen = chosen_of(choices(offer, self._rules), line(reply))
        except Unreadable as unreadable:
            chosen, reason = Choice(None, fallback=Fallback.UNREADABLE, doubtful=True), unreadable.reason
        return ground(
            offer,
            Extraction(
                intent=chosen.intent,
                amount=chosen.amount,
                payee=chosen.payee,
                needs_confirmation=chosen.needs_confirmation,
                fallback=chosen.fallback,
                model=self._endpoint.model,
                prompt_version=self._rules.rule,
                elapsed_ms=elapsed_ms,
                reason=reason,
            ),
        )
