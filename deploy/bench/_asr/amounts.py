"""Amounts that voices never heard had heard wrong: how many of them are asked about instead of being read back."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from app.qa.figures import Figure
from app.qa.locales import LOCALES
from deploy.bench._asr.score import Recognition, group
from rules.locales import locale_rules
from schemas.money import exponent
from schemas.span import Ambiguity, Span, amount_readings, amount_spans
from schemas.transcript import Source, Transcript
from services.normalization import Normalizer
from services.understanding.nbest.contested import contested
from tests.fakes.desk import NOW


def amounts_asked(heard: Sequence[Recognition]) -> dict[str, Figure]:
    """By language and condition: utterances with amounts, those heard wrong, and the shares that are asked about."""
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for each in heard:
        if group(each.case.voice) == "held_out" and (judged := _judged(each)):
            groups[f"{each.case.lang}_amounts_{each.condition}"].append(judged)
    flat: dict[str, Figure] = {}
    for name, found in groups.items():
        flat |= {f"{name}_utterances": len(found), f"{name}_wrong": sum(not right for right, _ in found)}
        for kind, asked in (("right", [a for r, a in found if r]), ("wrong", [a for r, a in found if not r])):
            if asked:
                flat[f"{name}_{kind}_asked_percent"] = 100 * sum(asked) / len(asked)
    return flat


def _judged(heard: Recognition) -> tuple[bool, bool] | None:
    """(whether its amounts were heard right, whether one is asked about); None where none was heard."""
    locale = LOCALES[heard.case.lang]
    normalize = partial(Normalizer.for_locale(locale).normalize, now=NOW, currencies=())
    transcript = Transcript(heard.text, locale, heard.hypotheses, source=Source.SPEECH)
    found = amount_spans(contested(transcript, normalize(heard.text), normalize))
    digits = exponent(locale_rules(locale).currency)
    if not (values := _values(found, digits)):
        return None
    right = values == _values(amount_spans(normalize(heard.case.text)), digits)
    return right, any(span.ambiguity is Ambiguity.HEARD_TWO_WAYS for span in found)


def _values(spans: Sequence[Span], digits: int) -> list[int]:
    """Minor units of each span's first reading."""
    return [readings[0].amount_minor for span in spans if (readings := amount_readings(span, digits))]
