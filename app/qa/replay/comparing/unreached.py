"""Changed rules that no turn of the set uses: of them nothing else in a comparison can tell right from wrong.

What a turn uses is told by its words, by the rules on its record, and by what it was answered. Where none of these can
show it (a bound, a life in seconds, how a number is read aloud) a change counts as used by no turn.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from pydantic import JsonValue

from app.qa.replay.comparing.rule_entries import ORDER
from app.qa.replay.comparing.rule_uses import Uses, fragments, label_of, whole_of
from app.qa.replay.records.journal import RuleEntries, Run

Leaves = Sequence[JsonValue]
_SHOWN_WORDS: Final = 4
_SHOWN: Final = 12
_WORDED: Final = (".say", ".to")
"""Fields of a rule of which each word counts: what is said, and to which questions it is an answer."""
_MUTE: Final = frozenset({"act", "asr", "endpointing", "guard", "locales", "speech"})
"""Rules that no turn of a replay shows at work: waits, lives, what is blotted out, how words are read aloud."""


@dataclass(frozen=True, slots=True)
class UnreachedChange:
    """An entry of the rules that changed, by its file's id and its place there; and what of it no turn uses."""

    rule: str
    says: str

    def __str__(self) -> str:
        return f"{self.rule} ({self.says})"

    def accepted(self, patterns: Sequence[str]) -> bool:
        """Whether it is among what is accepted: `speech.en:*`, an entry, `*`."""
        return any(fnmatchcase(self.rule, pattern) for pattern in patterns)


def untold(before: Run, after: Run) -> str:
    """In words, why it can't be told which rules changed; "" where it can."""
    if before.head.ruleset == after.head.ruleset:
        return ""
    mute = [name for name, run in (("before", before), ("after", after)) if not run.rules]
    of = f"{before.head.ruleset[:12]} → {after.head.ruleset[:12]}"
    return f"which rules changed ({of}) can't be told: not on record of the run {' and '.join(mute)}" if mute else ""


def unreached(before: Run, after: Run) -> tuple[UnreachedChange, ...]:
    """Every changed entry of which no turn uses what changed, in the order of their names."""
    old, new = before.rules, after.rules
    if not old or not new:
        return ()
    names = [name for name in sorted({*old, *new}) if list(old.get(name, ())) != list(new.get(name, ()))]
    if not names:
        return ()
    then, now = Uses(before), Uses(after)
    wholes = [{whole_of(name) for name in of} - {""} for of in (old, new)]
    found = [change for name in names if (change := _looked_at(name, old, new, then, now, wholes)) is not None]
    return tuple(dict.fromkeys(found))


def _looked_at(
    name: str, old: RuleEntries, new: RuleEntries, then: Uses, now: Uses, wholes: Sequence[set[str]]
) -> UnreachedChange | None:
    was, is_now = list(old.get(name, ())), list(new.get(name, ()))
    if name.endswith(ORDER):
        common = {*was} & {*is_now}
        moved = [n for n in was if n in common] != [n for n in is_now if n in common]
        return UnreachedChange(name.removesuffix(ORDER), "in another order") if moved else None
    gone, come = list((Counter(was) - Counter(is_now)).elements()), list((Counter(is_now) - Counter(was)).elements())
    if not gone and not come:
        return UnreachedChange(name, "in another order")
    if name.partition(".")[0].partition(":")[0] not in _MUTE:
        whole, (then_whole, now_whole) = whole_of(name), wholes
        if whole and (whole in then_whole) != (whole in now_whole):
            # A rule that is new, or gone, is one thing: it is used where it is on record.
            come_or_gone, uses = ("new", now) if whole in now_whole else ("gone", then)
            return None if uses.on_record(label_of(name)) else UnreachedChange(whole, come_or_gone)
        silent = _silent(name, (come, now), (gone, then))
        if not silent:
            return None
        if any(silent):
            more = f" and {len(silent) - _SHOWN_WORDS} more" if len(silent) > _SHOWN_WORDS else ""
            return UnreachedChange(name, ", ".join(silent[:_SHOWN_WORDS]) + more)
    return UnreachedChange(name, _shown(was, is_now))


def _silent(name: str, come: tuple[Leaves, Uses], gone: tuple[Leaves, Uses]) -> list[str]:
    """What of the words that came and went no turn uses; [""] for what no turn uses and can't be shown in words."""
    (new, now), (old, then) = come, gone
    if now.keyed(name) or (not new and then.keyed(name)):
        return []
    label = label_of(name)
    words = [{part: None for leaf in leaves for part in fragments(leaf)} for leaves in (new, old)]
    parted = not label or name.endswith(_WORDED)
    if not parted or words[0].keys() == words[1].keys():
        return [] if label and (now if new else then).on_record(label) else [""]
    added, left = ([part for part in words[side] if part not in words[1 - side]] for side in (0, 1))
    found = [f"+“{part:.60}”" for part in added if not now.says(name, part, added)]
    return found + [f"−“{part:.60}”" for part in left if not then.says(name, part, left)]


def _shown(was: Leaves, is_now: Leaves) -> str:
    then, now = (", ".join(map(str, leaves)) for leaves in (was, is_now))
    return f"{then:.60} → {now:.60}" if was and is_now else f"gone: {then:.60}" if was else f"new: {now:.60}"


def told(changes: Sequence[UnreachedChange]) -> str:
    """In words, what no turn uses."""
    more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    named = "; ".join(map(str, changes[:_SHOWN]))
    return f"{len(changes)} changed rules that no turn uses, accepted by none (--accept): {named}{more}"
