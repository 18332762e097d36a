"""The QnA endpoint: a model retells retrieved passages, and each sentence is released only once it is grounded."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Final

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

from rules.load import RuleFile, load
from schemas.answer import AnswerDone, AnswerEvent, Question, Refused, SentenceReady, Sources
from schemas.endpoint import ModelEndpoint
from schemas.errors import ModelUnavailable
from schemas.ids import CustomerId
from services.answering.quote import MAX_QUESTION, Library, citation
from services.answering.release import NO_ANSWER, CitablePassages, Sentences, Ungrounded
from services.answering.stream import deltas
from services.guard import Attempts
from services.ports import Breaker, Clock

MAX_ANSWER_CHARACTERS: Final = 2400


@dataclass(frozen=True, slots=True)
class AnswerEndpoint(ModelEndpoint):
    """Where the model that answers is served, and how long it may take."""

    first_token_s: float = 2.0
    stall_s: float = 1.5
    total_s: float = 12.0
    in_flight: int = 8
    max_tokens: int = 160


class AnswerPrompt(RuleFile):
    """rules/prompts/answer.yaml."""

    systems: dict[str, str]
    questions: dict[str, str]


@dataclass(slots=True)
class _Telling:
    """One answer under way: its stamps in seconds of the clock, and how many sentences were released."""

    started: float
    retrieved: float = 0.0
    latest: float = 0.0
    generated: float | None = None
    first_token: float | None = None
    first_sentence: float | None = None
    released: int = 0

    def done(self, now: float, model: str) -> AnswerDone:
        def ms(stamp: float | None) -> float | None:
            return None if stamp is None else (stamp - self.started) * 1000

        return AnswerDone(
            (self.retrieved - self.started) * 1000,
            ms(self.first_token),
            ms(self.first_sentence),
            (now - self.started) * 1000,
            model,
            ms(self.generated),
        )


class GemmaAnswerer:
    """`Answerer` over an OpenAI-compatible server (vLLM). One a process; close it at the end."""

    def __init__(self, endpoint: AnswerEndpoint, library: Library, breaker: Breaker, clock: Clock) -> None:
        self._endpoint = endpoint
        self._library = library
        self._clock = clock
        self._prompt = load("prompts/answer.yaml", AnswerPrompt)
        self._attempts = Attempts(breaker, endpoint.in_flight)
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.url.rstrip("/") + "/v1",
            api_key=endpoint.key or "none",
            max_retries=0,
            timeout=endpoint.total_s,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False),
        )

    async def answer(self, customer: CustomerId, question: Question) -> AsyncIterator[AnswerEvent]:  # noqa: ARG002 - the port's signature; documents are everyone's
        """Sources, then sentences as they are grounded; a refusal is an event. Without the model, a quoted passage."""
        telling = _Telling(self._clock.monotonic())
        question = self._library.meant(question, self._clock)
        found = self._library.find(question, self._clock)
        telling.retrieved = self._clock.monotonic()
        refused = self._library.refusal(question, found)
        if refused:
            yield refused
            yield telling.done(self._clock.monotonic(), "")
            return
        citable = self._library.citable(question, found)
        yield Sources(tuple(citation(passage) for passage in citable.passages))
        model = self._endpoint.model
        try:
            async with aclosing(self._told(question, citable, telling)) as sentences:
                async for sentence in sentences:
                    yield sentence
        except Ungrounded:
            if not telling.released:
                yield Refused("ungrounded")
        except ModelUnavailable:
            if not telling.released:
                model = ""
                telling.first_sentence = self._clock.monotonic()
                for quote in self._library.quotes(found):
                    yield quote
        yield telling.done(self._clock.monotonic(), model)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _told(
        self, question: Question, citable: CitablePassages, telling: _Telling
    ) -> AsyncGenerator[SentenceReady | Refused, None]:
        """The model's sentences. Raises Ungrounded at the first that is not, ModelUnavailable where none comes."""
        sentences = Sentences(citable.limits)
        async with aclosing(self._deltas(question, citable, telling)) as deltas:
            async for delta in deltas:
                for sentence in sentences.feed(delta):
                    yield self._release(citable, sentence, telling)
                    if telling.released >= citable.limits.sentences:
                        return
        rest = sentences.finish()
        if not telling.released and rest.strip(" .。[]1") == NO_ANSWER:
            yield Refused("model")
        elif rest and rest.endswith("]"):
            yield self._release(citable, rest, telling)
        elif not telling.released:
            raise Ungrounded("nothing was cited") if rest else ModelUnavailable("the model said nothing")

    def _release(self, citable: CitablePassages, sentence: str, telling: _Telling) -> SentenceReady:
        ready = citable.check(sentence)
        telling.released += 1
        if telling.first_sentence is None:
            telling.first_sentence = self._clock.monotonic()
        return ready

    async def _deltas(
        self, question: Question, citable: CitablePassages, telling: _Telling
    ) -> AsyncGenerator[str, None]:
        """The model's words as they come. Raises ModelUnavailable; bounded in time and in length."""
        full, failing = "too many answers are being written", "the QnA endpoint keeps failing"
        with self._attempts.begin(ModelUnavailable(full), ModelUnavailable(failing)) as attempt:
            try:
                async with AsyncExitStack() as stack:
                    async with asyncio.timeout(self._patience_s(telling)):
                        response = await stack.enter_async_context(self._request(question, citable))
                    words, size = deltas(response.iter_bytes()), 0
                    while size < MAX_ANSWER_CHARACTERS and (delta := await self._next(words, telling)) is not None:
                        size += len(delta)
                        attempt.ok = telling.first_token is not None or None  # it speaks, however soon we heard enough
                        yield delta
            except (openai.OpenAIError, httpx2.HTTPError, TimeoutError) as error:
                raise ModelUnavailable(f"the QnA endpoint failed: {type(error).__name__}") from error
            if telling.first_token is None:
                raise ModelUnavailable("the model said nothing")

    async def _next(self, words: AsyncGenerator[str, None], telling: _Telling) -> str | None:
        """The next delta, "" of tokens without words, None at the end."""
        async with asyncio.timeout(self._patience_s(telling)):
            delta = await anext(words, None)
        if delta is not None and telling.generated is None:
            telling.generated = self._clock.monotonic()
        if delta:
            telling.latest = self._clock.monotonic()
            telling.first_token = telling.latest if telling.first_token is None else telling.first_token
        return delta

    def _patience_s(self, telling: _Telling) -> float:
        """How long the next words may take. Events without words do not lengthen it."""
        begun = telling.first_token is not None
        due = telling.latest + self._endpoint.stall_s if begun else telling.started + self._endpoint.first_token_s
        return max(0.0, min(due, telling.started + self._endpoint.total_s) - self._clock.monotonic())

    def _request(
        self, question: Question, citable: CitablePassages
    ) -> AbstractAsyncContextManager[openai.AsyncAPIResponse[openai.AsyncStream[ChatCompletionChunk]]]:
        return self._client.chat.completions.with_streaming_response.create(
            model=self._endpoint.model,
            messages=self.messages(question, citable),
            stream=True,
            temperature=0,
            max_tokens=self._endpoint.max_tokens,
            extra_body={
                "chat_template_kwargs": {"enable_thinking": False},
                "cache_salt": self._endpoint.tenant,
            },
        )

    def messages(self, question: Question, citable: CitablePassages) -> list[ChatCompletionMessageParam]:
        """The prompt: the language's fixed part, then the numbered passages, then the question on one line."""
        lines = [f"[{number}] ({p.title}) {p.text}" for number, p in enumerate(citable.passages, start=1)]
        words = f"{question.about[:MAX_QUESTION]} {question.text[:MAX_QUESTION]}"
        asked = " ".join(words.replace("<", "‹").replace(">", "›").split())
        lines.append(f"{self._prompt.questions[citable.language]}: {asked}")
        return [
            {"role": "system", "content": self._prompt.systems[citable.language]},
            {"role": "user", "content": "\n".join(lines)},
        ]
