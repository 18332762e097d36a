"""The settings of one call: what a client wishes is honoured or let through, and what is in force is shown."""

from collections.abc import Callable
from typing import Final

from app.transports.events.decode import eagerness_of, of_words
from rules.load import locales
from rules.locales import locale_rules
from schemas.audio import AudioFormat, Encoding
from schemas.call import CallConfig, ConfigureIn, Patience
from schemas.ids import Locale, language
from schemas.wire.realtime.session import (
    PCM_RATE,
    AudioInForce,
    AudioWish,
    Detection,
    DetectionWish,
    FormatWish,
    InputInForce,
    InputWish,
    Modality,
    OutputInForce,
    OwnInForce,
    OwnWish,
    Pcm24,
    SessionInForce,
    SessionWish,
    Transcription,
    WireFormat,
)
from schemas.wire.session import Eagerness, Pcma, Pcmu, Playback
from schemas.wire.unreadable import Refused

SOUND: Final = AudioFormat(Encoding.PCM16, PCM_RATE)
"""What a client sends and is sent that names no format."""
_SILENCE_MS: Final = 500
_LEAST_MS: Final = 60
_MOST_MS: Final = 5_000


def first_config(locale: Locale, *, speaks: bool) -> CallConfig:
    """How a call begins: no client of this protocol can tell what was played, so the clock has to."""
    return CallConfig(locale, SOUND, estimated=True, speaks=speaks, output=SOUND)


class CallSettings:
    """`config` is what the call was told; where it speaks at first, there is a voice to answer with.

    `recordable` says whether the call is recorded where that is agreed to.
    """

    def __init__(
        self,
        identity: str,
        config: CallConfig,
        expires_at: int,
        *,
        events: bool,
        recordable: Callable[[], bool] = lambda: False,
    ) -> None:
        self.config = config
        self.events = events
        self.transcribes = True
        self._identity = identity
        self._expires_at = expires_at
        self._voice = config.speaks
        self._recordable = recordable

    @property
    def modality(self) -> Modality:
        """How replies go out: in words where words were asked for, or there is no voice."""
        return "audio" if self.config.speaks else "text"

    def change(self, wish: SessionWish) -> ConfigureIn | None:
        """Take a client's wishes; what the call has to be told of them. Raises Refused, UnsupportedLocale.

        A wish that is refused changes nothing.
        """
        audio, own = wish.audio or AudioWish(), wish.tellerline or OwnWish()
        given, spoken = audio.input or InputWish(), audio.output
        form = _form(given.format, "session.audio.input.format") if given.format else self.config.form
        output = self.config.output
        if spoken is not None and spoken.format is not None:
            output = _form(spoken.format, "session.audio.output.format")
        patience, answers = self._turns(given)
        speaks = self.config.speaks
        if {"text", "audio"} & set(wish.output_modalities or ()):
            assert wish.output_modalities is not None
            speaks = self._voice and "audio" in wish.output_modalities
        wanted = CallConfig(
            _locale(given, own, self.config.locale),
            form,
            patience,
            self.config.estimated if own.playback is None else own.playback is Playback.ESTIMATED,
            self.config.recording if own.recording is None else own.recording and self._recordable(),
            speaks,
            answers,
            output,
        )
        self.events = self.events if own.events is None else own.events
        if "transcription" in given.model_fields_set:
            self.transcribes = given.transcription is not None
        before, self.config = self.config, wanted
        return None if wanted == before else _told(before, wanted)

    def shown(self) -> SessionInForce:
        """What is in force."""
        config = self.config
        return SessionInForce(
            id=self._identity,
            output_modalities=(self.modality,),
            expires_at=self._expires_at,
            audio=AudioInForce(
                input=InputInForce(
                    format=_named(config.form),
                    transcription=Transcription(language=language(config.locale)) if self.transcribes else None,
                    turn_detection=_detection(config),
                ),
                output=OutputInForce(format=_named(config.output)),
            ),
            tellerline=OwnInForce(
                locale=config.locale,
                playback=Playback.ESTIMATED if config.estimated else Playback.ACKNOWLEDGED,
                recording=config.recording,
                events=self.events,
            ),
        )

    def _turns(self, given: InputWish) -> tuple[Patience, bool]:
        """How turns end, and whether they are answered then; a client that ends them itself asks for the answer too."""
        if "turn_detection" not in given.model_fields_set:
            return self.config.patience, self.config.answers
        wish = given.turn_detection
        if wish is None or wish.type == "none":  # as some write it
            return Patience(manual=True), False
        return _patience(wish), wish.create_response is not False


def _told(before: CallConfig, wanted: CallConfig) -> ConfigureIn:
    """What has changed."""
    return ConfigureIn(
        wanted.locale if wanted.locale != before.locale else None,
        wanted.form if wanted.form != before.form else None,
        wanted.patience if wanted.patience != before.patience else None,
        wanted.estimated,
        wanted.recording if wanted.recording != before.recording else None,
        wanted.speaks,
        wanted.answers,
        wanted.output,
    )


def _locale(given: InputWish, own: OwnWish, now: Locale) -> Locale:
    """The language of the call: by our own field, or by that of the transcription, where it is one of ours."""
    if own.locale is not None:
        wanted = Locale(own.locale)
        locale_rules(wanted)
        return wanted
    asked = (given.transcription.language if given.transcription else None) or ""
    tag = asked.replace("_", "-").lower()
    spoken = tag.partition("-")[0]
    if tag == spoken == language(now):
        return now
    alike = [one for one in locales() if language(one) == spoken]
    other = now if now in alike else next(iter(alike), now)
    return next((one for one in alike if one.lower() == tag), other)


def _patience(wish: DetectionWish) -> Patience:
    if wish.type == "server_vad":
        return Patience(fixed_ms=min(max(wish.silence_duration_ms or _SILENCE_MS, _LEAST_MS), _MOST_MS))
    eagerness = Eagerness(wish.eagerness) if wish.eagerness in set(Eagerness) else Eagerness.AUTO
    return of_words(eagerness, wish.patience)


def _detection(config: CallConfig) -> Detection | None:
    patience = config.patience
    if patience.manual:
        return None
    if patience.fixed_ms is not None:
        detection = Detection(type="server_vad", silence_duration_ms=patience.fixed_ms)
    else:
        eagerness = eagerness_of(patience)
        own = {} if eagerness else {"tellerline.patience": patience.scale}
        detection = Detection.model_validate({"eagerness": eagerness} | own)
    return detection.model_copy(update={"create_response": config.answers})


def _form(wish: FormatWish, param: str) -> AudioFormat:
    match wish.type:
        case "audio/pcmu":
            return AudioFormat(Encoding.MULAW, 8_000)
        case "audio/pcma":
            return AudioFormat(Encoding.ALAW, 8_000)
        case "audio/pcm" if wish.rate in {None, PCM_RATE}:
            return SOUND
        case _:
            raise Refused("sound is audio/pcm at 24000 Hz, audio/pcmu or audio/pcma", param)


def _named(form: AudioFormat) -> WireFormat:
    match form.encoding:
        case Encoding.MULAW:
            return Pcmu(type="audio/pcmu")
        case Encoding.ALAW:
            return Pcma(type="audio/pcma")
        case Encoding.PCM16:
            return Pcm24()
