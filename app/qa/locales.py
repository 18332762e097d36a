"""The locale in which benchmarks speak, hear and ask each language."""

from typing import Final

from schemas.ids import EN_US, JA_JP, Locale

LOCALES: Final[dict[str, Locale]] = {"en": EN_US, "ja": JA_JP}
