"""Whole utterances over HTTP: a recording or a text in, the whole decision out. Nothing is carried out."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool

from app.auth.principal import Principal, Scope
from app.bootstrap import Gateway
from app.errors import IDENTITY, documented
from app.openapi import CREDENTIALS, body_of
from app.text import TextPath, payee_of
from app.transports.uploads import FILE_TYPES, RAW_RATES, RAW_TYPES, SaidOfSound, Uploads
from rules.locales import locale_rules
from schemas.errors import (
    BadInput,
    BankUnavailable,
    Busy,
    MalformedAudio,
    NotFound,
    TooLarge,
    UnsupportedAudio,
    UnsupportedLocale,
)
from schemas.ids import CallId, Locale
from schemas.json_names import DOUBLED, doubled_name
from schemas.text import TextIn, TextOut
from schemas.transcript import Decode
from services.audio.channels import named
from services.observability import Stamp, Stamps
from services.timing import within

Body = TypeVar("Body", bound=BaseModel)
MAX_TEXT_BYTES: Final = 512 * 1024
"""Of a customer's body: an utterance and its alternatives, each character escaped, and what is about them."""
_ADMITTED_S: Final = 1.2
"""For a bridge's nonce and a customer's share; what is asked then has the rest of an answer's time."""
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {name: {"schema": {"type": "string", "format": "binary"}} for name in (*FILE_TYPES, *RAW_TYPES)},
    }
}


class Alternative(BaseModel):
    """Another hypothesis."""

    text: str
    avg_logprob: float


class UtteranceOut(BaseModel):
    """What was heard in a recording, and what it would lead to."""

    transcript: str
    alternatives: list[Alternative]
    avg_logprob: float
    no_speech_prob: float
    decision: TextOut
    stages_ms: dict[str, float]


def router(gateway: Gateway, uploads: Uploads) -> APIRouter:
    """The routes. A caller's token sees the caller's own payees; a QA token brings its own."""
    routes = APIRouter(
        prefix="/v1",
        tags=["utterances"],
        dependencies=[*CREDENTIALS],
        responses=documented(*IDENTITY, BadInput, NotFound, UnsupportedLocale, MalformedAudio, BankUnavailable, Busy),
    )
    _add_text(routes, gateway, uploads)
    _add_utterances(routes, gateway, uploads)
    return routes


def _add_text(routes: APIRouter, gateway: Gateway, uploads: Uploads) -> None:
    @routes.post("/text", responses=documented(TooLarge), openapi_extra=body_of(TextIn))
    async def text(request: Request) -> TextOut:
        """Understand a text."""
        async with asked(gateway, uploads, request, MAX_TEXT_BYTES, brings=True) as (principal, body):
            given = parsed(TextIn, body).model_copy(update={"payees_file": None})
            path = await _path(gateway, principal, given)
            return await run_in_threadpool(path.take, given)


def _add_utterances(routes: APIRouter, gateway: Gateway, uploads: Uploads) -> None:
    @routes.post("/utterances", responses=documented(TooLarge, UnsupportedAudio), openapi_extra=_BODY)
    async def utterances(
        request: Request,
        locale: Annotated[str, Query(max_length=16)],
        rate: Annotated[int | None, Query(ge=RAW_RATES.start, lt=RAW_RATES.stop)] = None,
        channel: Literal["0", "1", "mix"] | None = None,
    ) -> UtteranceOut:
        """Understand a recording: WAV, FLAC, Ogg or MP3, or headerless `audio/PCMU`, `audio/PCMA`, `audio/L16`.

        `audio/L16` is little-endian, unless its type says `endianness=big-endian` (RFC 2586's own order); its rate
        stands in the type (`audio/L16; rate=16000`) or in `rate`, and is 8000 where neither says. Of a file with sound
        in two channels that differ, `channel` names the caller's: nobody guesses.
        """
        stamps = Stamps(gateway.clock.monotonic)
        stamps.mark(Stamp.REQUEST_RECEIVED)
        spoken = Locale(locale)
        locale_rules(spoken)
        async with asked(gateway, uploads, request) as (principal, body):
            stamps.mark(Stamp.AUDIO_UPLOAD_DONE)
            with gateway.admission.enter():
                samples = await uploads.decode(
                    body, request.headers.get("content-type", ""), SaidOfSound(rate, named(channel))
                )
                path = await _path(gateway, principal, None)
                with stamps.between(Stamp.ASR_START, Stamp.ASR_FINAL):
                    heard = await gateway.recognizer.transcribe(samples, spoken, Decode.FINAL, wordings=path.wordings)
            heard, decision = await run_in_threadpool(path.hear, heard)
        stamps.mark(Stamp.RESPONSE_SENT)
        return UtteranceOut(
            transcript=heard.text,
            alternatives=[Alternative(text=h.text, avg_logprob=h.avg_logprob) for h in heard.hypotheses[1:]],
            avg_logprob=heard.avg_logprob,
            no_speech_prob=heard.no_speech_prob,
            decision=decision,
            stages_ms=stamps.stages_ms(),
        )


@asynccontextmanager
async def asked(
    gateway: Gateway, uploads: Uploads, request: Request, most: int | None = None, *, brings: bool = False
) -> AsyncIterator[tuple[Principal, bytes]]:
    """Who asks, and what they sent: of a stranger, and past a customer's share, nothing is read.

    QA `brings` payees, and as many of them as there is room for.
    """
    early = await gateway.authenticator.before_body(request)
    most = None if brings and early and Scope.QA in early.scopes else most
    async with _share(gateway, early), uploads.body(request, most) as body, contextlib.AsyncExitStack() as stack:
        with within(_ADMITTED_S):
            principal = early or await gateway.authenticator.principal(request, body)
            await stack.enter_async_context(_share(gateway, None if early else principal))
        yield principal, body


@asynccontextmanager
async def _share(gateway: Gateway, principal: Principal | None) -> AsyncIterator[None]:
    """A customer's share of the gateway, for what a customer may ask. QA has no bound but that of all."""
    if principal is None or principal.customer is None:
        if principal is not None and Scope.QA not in principal.scopes:
            principal.require(Scope.CALL)
        yield
        return
    principal.require(Scope.CALL)
    async with gateway.limits.shares.request(principal.customer):
        await gateway.limits.rates.request(principal.customer)
        yield


def parsed(model: type[Body], body: bytes) -> Body:
    """A body. Raises RequestValidationError as the framework does for bodies that it reads itself, BadInput."""
    try:
        read = model.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        wrong = [item | {"loc": ("body", *item["loc"])} for item in found]
        raise RequestValidationError(wrong) from None
    if doubled_name(body) is not None:
        raise BadInput(DOUBLED)
    return read


async def _path(gateway: Gateway, principal: Principal, given: TextIn | None) -> TextPath:
    """Payees that QA brought, or those of the caller whose token it is."""
    if principal.customer is not None:
        caller = await gateway.callers.caller(principal.customer, CallId("text"), None)
        return TextPath.of_caller(gateway.clock, caller)
    brought = given.payees if given is not None and given.payees is not None else ()
    return await run_in_threadpool(TextPath.of_payees, gateway.clock, [payee_of(payee) for payee in brought])
