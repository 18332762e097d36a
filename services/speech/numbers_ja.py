"""Japanese numbers in kana, with their sound changes; a breath is a space, a pause behind each four figures a comma."""

from decimal import Decimal

from services.speech.rules import japanese

_THOUSAND = 1000
MAX = 10**16
"""Numbers from here on are read digit by digit."""


def cardinal(number: int) -> str:
    """A number from 0 to below MAX: "ジュウニマン、サンゼン ヨンヒャク ゴジュウ"."""
    rules = japanese()
    if not number:
        return rules.zero
    parts = []
    for size, name, _ in rules.scales:
        count, number = divmod(number, size)
        if count:
            said = _group(count, scaled=True)
            changed = next((e for e in rules.before_scale.get(name, ()) if said.endswith(e)), None)
            said = said.removesuffix(changed) + rules.before_scale[name][changed] if changed else said
            parts.append(said + name)
    return rules.scale_pause.join([*parts, _group(number)] if number else parts)


def _group(number: int, *, scaled: bool = False) -> str:
    """Four figures; in front of a scale a thousand is イッセン."""
    rules = japanese()
    thousands, rest = divmod(number, _THOUSAND)
    hundreds, rest = divmod(rest, 100)
    tens, ones = divmod(rest, 10)
    first = rules.one_thousand if scaled and thousands == 1 else rules.thousands[thousands]
    parts = [first, rules.hundreds[hundreds], rules.tens[tens] + rules.ones[ones]]
    return " ".join(part for part in parts if part)


def decimal(number: Decimal) -> str:
    """A number that is not negative: "サンテンゴ", "レイテンゼロゴ"."""
    rules = japanese()
    whole, _, fraction = f"{number:f}".partition(".")
    said = cardinal(int(whole)) if int(whole) < MAX else digits(whole)
    if not fraction:
        return said
    return (said if int(whole) else rules.zero_point) + rules.point + "".join(_digit(figure) for figure in fraction)


def _digit(figure: str) -> str:
    rules = japanese()
    return rules.ones[int(figure)] or rules.zero


def digits(string: str, pause: str = "", thousands: str = "") -> str:
    """Digits one by one, all of two beats: "イチ ニー サン ヨン".

    With a `pause`, that stands between them; with one for `thousands`, that before each three, as an amount is written.
    """
    rules = japanese()
    said = rules.digits[int(string[0])]
    for left, figure in zip(range(len(string) - 1, 0, -1), string[1:], strict=True):
        said += (thousands if thousands and not left % 3 else pause or rules.breath) + rules.digits[int(figure)]
    return said


def counted(number: Decimal, counter: str) -> str:
    """A number and what it counts: "ロッピャク エン", "ニジュップン", "フタリ"."""
    how = japanese().counters[counter]
    if f"{number:f}" in how.whole:
        return how.whole[f"{number:f}"]
    said = decimal(number)
    if number == int(number):
        for end in sorted(how.ends, key=len, reverse=True):
            if said.endswith(end):
                return said.removesuffix(end) + how.ends[end]
    return f"{said} {how.reading}"  # as the voices were taught: a unit is a word of its own
