"""Whole utterances over HTTP: a recording or a text in, the whole decision out. Nothing is carried out."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from app.auth.principal import Principal, Scope
from app.bootstrap import Gateway
from app.errors import IDENTITY, documented
from app.openapi import CREDENTIALS
from app.qa.text import TextPath, payee_of
from rules.locales import locale_rules
from schemas.audio import AudioFormat, Encoding, Samples
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
from schemas.text import TextIn, TextOut
from services.audio.files import read_file, read_raw
from services.observe import Stamp, Stamps

RAW_TYPES = {
    "audio/pcmu": Encoding.MULAW,
    "audio/basic": Encoding.MULAW,
    "audio/pcma": Encoding.ALAW,
    "audio/l16": Encoding.PCM16,
}
"""Headerless audio, by media type."""
FILE_TYPES = ("audio/wav", "audio/flac", "audio/ogg", "audio/mpeg")
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


def router(gateway: Gateway) -> APIRouter:
    """The routes. A caller's token sees the caller's own payees; a QA token brings its own."""
    routes = APIRouter(
        prefix="/v1",
        tags=["utterances"],
        dependencies=[*CREDENTIALS],
        responses=documented(*IDENTITY, BadInput, NotFound, UnsupportedLocale, MalformedAudio, BankUnavailable, Busy),
    )
    _add_text(routes, gateway)
    _add_utterances(routes, gateway)
    return routes


def _add_text(routes: APIRouter, gateway: Gateway) -> None:
    @routes.post("/text")
    async def text(request: Request, given: TextIn) -> TextOut:
        """Understand a text."""
        principal = await gateway.authenticator.principal(request, await request.body())
        given = given.model_copy(update={"payees_file": None})
        path = await _path(gateway, principal, given)
        return await run_in_threadpool(path.take, given)


def _add_utterances(routes: APIRouter, gateway: Gateway) -> None:
    @routes.post("/utterances", responses=documented(TooLarge, UnsupportedAudio), openapi_extra=_BODY)
    async def utterances(
        request: Request,
        locale: Annotated[str, Query(max_length=16)],
        rate: Annotated[int, Query(ge=8_000, le=48_000)] = 8_000,
    ) -> UtteranceOut:
        """Understand a recording: WAV, FLAC, Ogg or MP3, or headerless `audio/PCMU`, `audio/PCMA`, `audio/L16`."""
        stamps = Stamps(gateway.clock.monotonic)
        stamps.mark(Stamp.REQUEST_RECEIVED)
        spoken = Locale(locale)
        locale_rules(spoken)
        body = await _bounded(request, gateway.settings.max_upload_bytes)
        principal = await gateway.authenticator.principal(request, body)
        stamps.mark(Stamp.AUDIO_UPLOAD_DONE)
        samples = await run_in_threadpool(_decode, body, request.headers.get("content-type", ""), rate)
        with gateway.admission.enter(), stamps.between(Stamp.ASR_START, Stamp.ASR_FINAL):
            heard = await gateway.recognizer.transcribe(samples, spoken, final=True)
        path = await _path(gateway, principal, None)
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


async def _path(gateway: Gateway, principal: Principal, given: TextIn | None) -> TextPath:
    """Payees that QA brought, or those of the caller whose token it is."""
    if principal.customer is not None:
        principal.require(Scope.CALL)
        caller = await gateway.callers.caller(principal.customer, CallId("text"), Locale("en-US"))
        return TextPath.of_caller(gateway.clock, caller)
    principal.require(Scope.QA)
    brought = given.payees if given is not None and given.payees is not None else ()
    return await run_in_threadpool(TextPath.of_payees, gateway.clock, [payee_of(payee) for payee in brought])


async def _bounded(request: Request, limit: int) -> bytes:
    """The body, refused as soon as it is too long, whatever its header says."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(f"a recording has at most {limit} bytes")
    return bytes(body)


def _decode(body: bytes, content_type: str, rate: int) -> Samples:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in RAW_TYPES:
        encoding = RAW_TYPES[media_type]
        return read_raw(body, AudioFormat(encoding, rate if encoding is Encoding.PCM16 else 8_000))
    if media_type.startswith("audio/") or media_type in {"", "application/octet-stream", "application/ogg"}:
        return read_file(body)
    raise UnsupportedAudio("the media type is not audio")
