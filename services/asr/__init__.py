"""Speech recognition: Whisper models on CTranslate2 behind the `Recognizer` port."""

from services.asr.load import load

__all__ = ["load"]
