"""Cardinals: atoms and scales added up, for English hundreds and thousands as for Japanese 千 and 万.

An atom is a word or a numeral with a value; a small scale (hundred, 百) multiplies the atoms since the last one; a big
scale (thousand, 万) multiplies all that its group holds. Places must descend, so "one hundred two hundred" is two
numbers, never one.
"""

from dataclasses import dataclass
from typing import Final

from services.normalization.scan import Cardinal, NumberAtom, Scan

MAX_VALUE: Final = 10**18
"""No cardinal reaches this."""

TEN: Final = 10
HUNDRED: Final = 100

_OPEN: Final = MAX_VALUE * 10
_MAX_ATOM_DIGITS: Final = 18
_MYRIAD: Final = 10_000
_BREATHS: Final = frozenset("、,")


@dataclass(slots=True)
class _Sum:
    """What has been added up so far."""

    total: int = 0
    ceiling: int = _OPEN  # the next big scale must be below
    group: int = 0
    floor: int = _OPEN  # the next atom or small scale of this group must be below
    pending: int | None = None
    place: int = 0
    joins: bool = False
    scaled: bool = False
    money: bool = False

    @property
    def value(self) -> int:
        return self.total + self.group + (self.pending or 0)

    def add(self, atom: NumberAtom) -> bool:
        """Take an atom, if its place fits."""
        if self.pending is None:
            if atom.value >= min(self.floor, self.ceiling) or (atom.value == 0 and self.scaled):
                return False
            self.pending = atom.value
        elif self.joins and 0 < atom.value < self.place:
            self.pending += atom.value
        else:
            return False
        self.place, self.joins = atom.place, atom.joins
        return True

    def multiply(self, value: int, most: int, bare: bool) -> bool:
        """Apply a small scale to the pending atoms."""
        factor = self.pending
        if factor is None:
            factor = 1 if bare else 0
        if value >= min(self.floor, self.ceiling) or not 1 <= factor <= most or (factor >= TEN and self.group):
            return False
        self.group += factor * value
        self.floor, self.pending, self.joins, self.scaled = value, None, False, True
        return True

    def close(self, value: int, most: int, bare: bool) -> bool:
        """Apply a big scale to the whole group."""
        part = self.group + (self.pending or 0)
        if part == 0 and bare and self.pending is None:
            part = 1
        if value >= self.ceiling or not 1 <= part <= most or self.total + part * value >= MAX_VALUE:
            return False
        self.total += part * value
        self.ceiling, self.group, self.floor, self.pending = value, 0, _OPEN, None
        self.joins, self.scaled = False, True
        return True


def atom(scan: Scan, at: int) -> NumberAtom | None:
    """The atom at a place: a word's value, a whole numeral, or digits written side by side. Remembered."""
    if at >= len(scan.tokens):
        return None
    if at not in scan.atoms:
        scan.atoms[at] = _atom(scan, at)
    return scan.atoms[at]


def _atom(scan: Scan, at: int) -> NumberAtom | None:
    token = scan.tokens[at]
    if token.numeral is not None:
        value = token.numeral.whole
        return NumberAtom(value, 1, at + 1, False) if value is not None and not scan.labelled(at) else None
    if scan.style.language.positional and token.word.digit is not None:
        return _positional(scan, at)
    value = token.word.value
    if value is None:
        return None
    place = place_of(value)
    return NumberAtom(value, place, at + 1, place > 1 and value >= scan.style.language.joins_from)


def _positional(scan: Scan, at: int) -> NumberAtom:
    digits = [scan.tokens[at].word.digit or ""]
    end = at + 1
    while len(digits) < _MAX_ATOM_DIGITS and scan.glued(end) and scan.words[end].digit is not None:
        digits.append(scan.words[end].digit or "")
        end += 1
    return NumberAtom(int("".join(digits)), 1, end, False)


def spoken_pair(scan: Scan, at: int) -> tuple[int, int] | None:
    """A number from 10 to 99 in words, and the token behind it: half of "twenty twelve", a group of digits."""
    first = atom(scan, at)
    if first is None or not TEN <= first.value < HUNDRED or scan.tokens[at].numeral is not None:
        return None
    unit = atom(scan, first.end) if first.joins else None
    if unit is None or not 0 < unit.value < TEN or scan.tokens[first.end].numeral is not None:
        return first.value, first.end
    return first.value + unit.value, unit.end


def place_of(value: int) -> int:
    """The largest power of ten that divides the value: what may still be added lies below."""
    place = 1
    while value and value % (place * TEN) == 0:
        place *= TEN
    return place


def cardinal(scan: Scan, at: int) -> Cardinal | None:
    """The longest cardinal that starts at a place, remembered, because several grammars ask."""
    if at not in scan.cardinals:
        scan.cardinals[at] = _cardinal(scan, at, _Sum())
    return scan.cardinals[at]


def cardinal_after_article(scan: Scan, at: int) -> Cardinal | None:
    """The cardinal whose first one an article stood for: "a" hundred and twenty."""
    return _cardinal(scan, at, _Sum(pending=1, place=1))


def _cardinal(scan: Scan, at: int, so_far: _Sum) -> Cardinal | None:
    best: Cardinal | None = None
    settled: Cardinal | None = None  # as of the last scale: where to return when a later scale does not fit
    end, loose = at, False
    while end < len(scan.tokens):
        word = scan.tokens[end].word
        scale = word.scale
        if scale is not None and (not scale.glued or scan.glued(end)):
            step = so_far.close if scale.big else so_far.multiply
            if not step(scale.value, scale.most, scale.bare):
                return _broken(settled, best) if so_far.pending is not None and so_far.scaled else best
            end += 1
            so_far.money = so_far.money or scale.money
            best = settled = Cardinal(so_far.value, end, True, so_far.money, False)
            continue
        found = atom(scan, end)
        if found is not None:
            if not so_far.add(found):
                return best
            end = found.end
            best = Cardinal(so_far.value, end, so_far.scaled, so_far.money, loose)
        elif word.joiner and so_far.scaled and so_far.pending is None and scan.quantity(end + 1):
            end += 1
        elif best is not None and settled is best and (rest := _paused(scan, end, so_far.ceiling)):
            end, loose = end + 1, rest < _MYRIAD // TEN  # 2万、500円 may be two amounts: it is asked about
        else:
            break
    return best


def _paused(scan: Scan, at: int, below: int) -> int:
    """The figures behind a mark that is but the breath after 万, as a recogniser writes it: 221万、5279円. Or 0."""
    marked = scan.tokens[at].text in _BREATHS and scan.style.language.positional and scan.glued(at + 1)
    rest = scan.tokens[at + 1].numeral if marked and at + 1 < len(scan.tokens) else None
    if rest is None or rest.whole is None or below == _OPEN or scan.words[at + 2].currency is None:
        return 0
    return rest.whole if rest.whole < min(below, _MYRIAD) else 0


def _broken(settled: Cardinal | None, best: Cardinal | None) -> Cardinal | None:
    if settled is None or best is None:
        return best
    return Cardinal(settled.value, settled.end, settled.scaled, settled.money, broken=True)
