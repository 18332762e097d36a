"""A listener's decodes where nobody waits for them: recordings that are cut into turns, benchmarks."""

from schemas.ids import Locale
from schemas.interpretation import Interpretation
from schemas.transcript import Decode
from services.audio.listener import Listener, Signal
from services.audio.utterance import DecodeRequest
from services.ports import Recognizer, TurnHandler


async def decoded(
    request: DecodeRequest, listener: Listener, recognizer: Recognizer, handler: TurnHandler, locale: Locale
) -> list[Signal]:
    """What the listener makes of a decode that it asked for. Raises RecognizerUnavailable, Busy, TooLarge."""
    wordings = handler.wordings if request.final else None
    decode = Decode.FINAL if request.final else Decode.PARTIAL
    heard = await recognizer.transcribe(request.samples, locale, decode, wordings=wordings)
    if not request.final:
        return listener.heard(request.revision, Interpretation(heard))
    said = handler.interpret(heard)
    asks = listener.asks(request.revision, said)
    onward = await recognizer.onward(request.samples, said.transcript) if asks else None
    return listener.heard(request.revision, said, onward)
