"""Forms of kanji that names are registered with, and their everyday ones."""

from collections.abc import Mapping
from functools import lru_cache

from rules.load import load_table


@lru_cache(maxsize=1)
def kanji_variants() -> Mapping[int, str]:
    """The everyday form by each other form's code point, as `str.translate` takes them. Raises RulesInvalid."""
    rows = load_table("payees/kanji_variants.tsv")[1]
    return {ord(variant): plain for plain, variants in rows for variant in variants}
