"""Client events of the wire to a call's inputs, and its settings back."""

import base64
from functools import singledispatch
from types import MappingProxyType
from typing import Final

from rules.locales import locale_rules
from schemas.audio import AudioFormat, Encoding
from schemas.call import (
    AudioIn,
    CallConfig,
    CallInput,
    CancelIn,
    ClearIn,
    CommitIn,
    ConfigureIn,
    KeyIn,
    Patience,
    TypedIn,
)
from schemas.errors import MalformedAudio
from schemas.ids import Locale
from schemas.turn import ReplyId
from schemas.wire import (
    AppendAudio,
    CancelResponse,
    ClearAudio,
    ClientEvent,
    CommitAudio,
    CreateItem,
    Playback,
    PressKey,
    SemanticVad,
    ServerVad,
    Session,
    UpdateSession,
)
from schemas.wire.session import (
    AudioPatch,
    AudioSettings,
    Eagerness,
    InputSettings,
    OutputSettings,
    OwnSettings,
    Pcm,
    Pcma,
    Pcmu,
)

SCALE: Final = MappingProxyType({Eagerness.LOW: 1.5, Eagerness.MEDIUM: 1.0, Eagerness.HIGH: 0.75, Eagerness.AUTO: 1.0})


_OF_URLS: Final = str.maketrans("-_", "+/")


def unbase64(text: str) -> bytes:
    """Bytes in base64, also in lines, as Android and Ruby write it, without padding, or in the alphabet of URLs.

    Raises MalformedAudio.
    """
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        bare = "".join(text.split())
    if not {"+", "/"} & set(bare):
        bare = bare.translate(_OF_URLS)
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except ValueError:
        raise MalformedAudio("the sound is not base64") from None


@singledispatch
def to_input(event: ClientEvent) -> CallInput:
    """What the call gets. Raises MalformedAudio, UnsupportedLocale."""
    raise AssertionError(type(event))


@to_input.register
def _(event: UpdateSession) -> CallInput:
    audio, own = event.session.audio or AudioPatch(), event.session.tellerline
    given, sent = audio.input, audio.output
    locale = Locale(own.locale) if own and own.locale else None
    if locale is not None:
        locale_rules(locale)
    return ConfigureIn(
        locale,
        _form(given.format) if given and given.format else None,
        _patience(given.turn_detection) if given and "turn_detection" in given.model_fields_set else None,
        own.playback is Playback.ESTIMATED if own and own.playback else None,
        own.recording if own else None,
        None if event.session.output_modalities is None else event.session.output_modalities == ("audio",),
        output=_form(sent.format) if sent and sent.format else None,
    )


@to_input.register
def _(event: AppendAudio) -> CallInput:
    return AudioIn(unbase64(event.audio), event.sequence)


@to_input.register
def _(_event: CommitAudio) -> CallInput:
    return CommitIn()


@to_input.register
def _(_event: ClearAudio) -> CallInput:
    return ClearIn()


@to_input.register
def _(event: CreateItem) -> CallInput:
    return TypedIn(event.item.content[0].text)


@to_input.register
def _(event: CancelResponse) -> CallInput:
    return CancelIn(ReplyId(event.response_id) if event.response_id else None)


@to_input.register
def _(event: PressKey) -> CallInput:
    return KeyIn(event.digit)


def to_session(config: CallConfig, identity: str) -> Session:
    """A call's settings as the client sees them."""
    detection: SemanticVad | ServerVad | None
    if config.patience.manual:
        detection = None
    elif config.patience.fixed_ms is not None:
        detection = ServerVad(type="server_vad", silence_duration_ms=config.patience.fixed_ms)
    else:
        named = eagerness_of(config.patience) or Eagerness.AUTO
        detection = SemanticVad.model_validate({"eagerness": named, "tellerline.patience": config.patience.scale})
    playback = Playback.ESTIMATED if config.estimated else Playback.ACKNOWLEDGED
    return Session(
        id=identity,
        output_modalities=("audio" if config.speaks else "text",),
        audio=AudioSettings(
            input=InputSettings(format=_named(config.form), turn_detection=detection),
            output=OutputSettings(format=_named(config.output)),
        ),
        tellerline=OwnSettings(locale=config.locale, playback=playback, recording=config.recording),
    )


def _form(form: Pcm | Pcmu | Pcma) -> AudioFormat:
    if isinstance(form, Pcm):
        return AudioFormat(Encoding.PCM16, form.rate)
    return AudioFormat(Encoding.MULAW if isinstance(form, Pcmu) else Encoding.ALAW, 8000)


def _named(form: AudioFormat) -> Pcm | Pcmu | Pcma:
    match form.encoding:
        case Encoding.MULAW:
            return Pcmu(type="audio/pcmu")
        case Encoding.ALAW:
            return Pcma(type="audio/pcma")
        case Encoding.PCM16:
            return Pcm.model_validate({"rate": form.rate})


def _patience(detection: SemanticVad | ServerVad | None) -> Patience:
    if detection is None:
        return Patience(manual=True)
    if isinstance(detection, ServerVad):
        return Patience(fixed_ms=detection.silence_duration_ms)
    return of_words(detection.eagerness, detection.patience)


def of_words(eagerness: Eagerness, scale: float | None) -> Patience:
    """The words say when a turn ends; `scale` goes before the name of an eagerness."""
    return Patience(scale=scale or SCALE[eagerness], medium=not scale and eagerness is Eagerness.MEDIUM)


def eagerness_of(patience: Patience) -> Eagerness | None:
    """What a client calls it, if it has a name."""
    if patience.medium:
        return Eagerness.MEDIUM
    return {scale: name for name, scale in SCALE.items()}.get(patience.scale)
