"""Other normalizers, run on the same English sentences and cases where they are installed (see deploy/decisions)."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from typing import Any, Final

Case = Mapping[str, Any]


class Peer:
    """A library: what it makes of a text, and of one labelled expression of the categories it claims."""

    def __init__(
        self, run: Callable[[str], object], values: Mapping[str, Callable[[str, datetime], Sequence[str]]]
    ) -> None:
        self.run = run
        self.values = values


def _text2num() -> Peer:
    alpha2digit: Callable[..., str] = importlib.import_module("text_to_num").alpha2digit

    def cardinal(text: str, _: datetime) -> Sequence[str]:
        return [alpha2digit(text, "en").replace(",", "")]

    return Peer(lambda text: alpha2digit(text, "en"), {"en_cardinal": cardinal})


def _dateparser() -> Peer:
    parse = importlib.import_module("dateparser").parse
    search = importlib.import_module("dateparser.search").search_dates

    def date(text: str, now: datetime) -> Sequence[str]:
        found = parse(text, languages=["en"], settings={"RELATIVE_BASE": now.replace(tzinfo=None)})
        return [found.date().isoformat()] if found is not None else []

    return Peer(lambda text: search(text, languages=["en"]), {"en_date": date})


def _recognizers() -> Peer:
    number = importlib.import_module("recognizers_number")
    unit = importlib.import_module("recognizers_number_with_unit")
    dates = importlib.import_module("recognizers_date_time")
    english = number.Culture.English

    def cardinal(text: str, _: datetime) -> Sequence[str]:
        return [str(r.resolution["value"]) for r in number.recognize_number(text, english)]

    def date(text: str, now: datetime) -> Sequence[str]:
        found = dates.recognize_datetime(text, english, reference=now.replace(tzinfo=None))
        return [v.get("value", "") for r in found for v in (r.resolution or {}).get("values", [])]

    def run(text: str) -> object:
        return (
            unit.recognize_currency(text, english),
            number.recognize_number(text, english),
            dates.recognize_datetime(text, english),
        )

    return Peer(run, {"en_cardinal": cardinal, "en_date": date})


PEERS: Final[Mapping[str, tuple[str, Callable[[], Peer]]]] = {
    "text2num": ("text_to_num", _text2num),
    "dateparser": ("dateparser", _dateparser),
    "recognizers_text": ("recognizers_number", _recognizers),
}


def installed(name: str) -> bool:
    """Whether a peer can be imported here."""
    return find_spec(PEERS[name][0]) is not None


def outcomes(peer: Peer, cases: Sequence[Case]) -> dict[str, list[int]]:
    """[right, wrong, nothing] by category: each labelled expression is handed over alone."""
    counts = {category: [0, 0, 0] for category in peer.values}
    for case in cases:
        reads = peer.values.get(case["cat"])
        if reads is None or len(case["expect"]) != 1:
            continue
        expected = case["expect"][0]
        now = datetime.fromisoformat(case["now"]) if case.get("now") else datetime(2026, 3, 4, 12)  # noqa: DTZ001 - the libraries want naive times
        found = reads(case["text"][expected["start"] : expected["end"]], now)
        right = any(_equal(value, wanted) for value in found for wanted in expected["value"])
        counts[case["cat"]][0 if right else 1 if found else 2] += 1
    return counts


def _equal(value: str, wanted: str) -> bool:
    try:
        return value == wanted or Decimal(value) == Decimal(wanted)
    except InvalidOperation:
        return False
