"""A reply for somebody else's voice: its words as our own rules read them, as text or as SSML. Pure."""

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from schemas.ids import Locale
from services.speech.text import spoken

_NO_XML: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML 1.0 has no place for, escaped or not."""


def words(text: str, locale: Locale) -> str:
    """`text` in words that no voice has to guess: amounts, dates, digits, names with a reading."""
    return _NO_XML.sub("", spoken(text, locale))


def ssml(text: str, locale: Locale) -> str:
    """The same as a document of SSML 1.1; nothing in `text` is markup."""
    return f'<speak version="1.1" xml:lang={quoteattr(locale)}>{escape(words(text, locale))}</speak>'
