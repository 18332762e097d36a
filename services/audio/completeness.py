"""How complete a caller's words are: the one judge of it, and the evidence that it goes by."""

import re
from functools import lru_cache
from typing import Final

from rules.locales import space
from schemas.call import Patience
from schemas.ids import Locale, RuleId
from schemas.intent import SlotName
from schemas.interpretation import Interpretation
from schemas.transcript import PUNCTUATION, Onward, Transcript
from schemas.turn import Completeness
from services.audio.endpointing import Endpointing, endpointing, timing

_LONG_NUMBER: Final = re.compile(r"(?:^|\D)(?:\d[ -]?){3,}$")
_COMMAND_LETTERS: Final = 4
"""Fewer are no command, however they end."""
_FIXED: Final = RuleId("endpointing.fixed@1")
_SOON: Final = frozenset({Completeness.COMPLETE, Completeness.YES_NO})
"""Words that are waited on no longer than a reply can wait."""
_GOES_ON: Final = frozenset({Completeness.TRAILING, Completeness.HESITATION})
_MAY_FOLLOW: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE, SlotName.TARGET})
"""What a caller who pauses may still be about to say; which card or bill is asked for, not waited for."""


class CompletenessJudge:
    """Judges one caller's words, and how long the silence after them is waited on."""

    def __init__(self, locale: Locale, patience: Patience) -> None:
        self._rules = endpointing(locale)
        self._timing = timing()
        self._patience = patience
        self.shortest_ms: Final = min(self.wait(kind)[0] for kind in Completeness)
        """The least silence that may end a turn."""

    def judge(self, said: Interpretation, partial: str = "") -> Completeness:
        """How complete `said` is, after the last `partial` of the same utterance. In this order:

        the ear (how the last words end) and, where it can't tell, the grammar; for words that would end the turn soon,
        whether they bind or only lead in, the recogniser's doubts, and whether "please" may hide behind the last sound.
        """
        kind = by_ear(said.transcript.text, said.transcript.locale)
        if kind is Completeness.UNKNOWN:
            kind = _by_grammar(said)
        if kind in _SOON and said.binding:
            return Completeness.BINDING
        if kind in _SOON and said.leads_in:
            return Completeness.LEAD_IN
        if kind in _SOON and _misheard(said.transcript, partial):
            return Completeness.DOUBTFUL
        if kind is Completeness.COMPLETE and _may_be_polite(said.transcript):
            return Completeness.COURTESY
        return kind

    def asks(self, said: Interpretation, partial: str) -> bool:
        """Whether it matters what may follow these words: behind a beginning, more does. `partial` was last."""
        told = bool(said.transcript.text.strip()) and self._patience.fixed_ms is None and not said.understood.begun
        return told and self._rules.onward is not None and self.judge(said, partial) is Completeness.UNKNOWN

    def wait(self, kind: Completeness, text: str = "", onward: Onward | None = None) -> tuple[int, RuleId]:
        """The silence that ends a turn after such words, in ms, and the rule that says so.

        `onward` is what may follow them, where that is known.
        """
        if self._patience.fixed_ms is not None:
            return self._patience.fixed_ms, _FIXED
        wait, rule = self._rules.threshold(kind)
        wait = binding_ms(text, self._rules) if kind is Completeness.BINDING else wait
        if onward is not None and self._rules.onward is not None and kind is Completeness.UNKNOWN:
            wait = self._rules.onward.wait_ms(wait, onward)
        scale = self._patience.scale if kind is not Completeness.BINDING else max(1.0, self._patience.scale)
        return max(round(wait * scale), self._timing.eager_after_ms), rule

    def filled_ms(self, text: str) -> int:
        """So much voice the words fill at an unhurried pace."""
        return self._rules.filled_ms(text)

    @property
    def eager_after_ms(self) -> int:
        """The silence after which the words are looked at."""
        return self._patience.fixed_ms or self._timing.eager_after_ms


def _by_grammar(said: Interpretation) -> Completeness:
    """Whether a command is whole, as far as it is not asked for what it lacks."""
    if said.understood.intent is None or said.understood.proposed:
        return Completeness.UNKNOWN
    named = {mention.slot for mention in said.understood.unresolved}
    if said.payees is not None and said.payees.heard:
        named.add(SlotName.PAYEE)
    awaited = _MAY_FOLLOW.intersection(said.understood.missing) - named
    return Completeness.MISSING_SLOT if awaited else Completeness.COMPLETE


def _misheard(transcript: Transcript, partial: str) -> bool:
    """Whether the recogniser may have misheard.

    It may where it is unsure and the last `partial` was not on the way to these words, and where an alternative that is
    about as likely is unfinished: "hundred dollars two", or "to".
    """
    rules, best = timing(), transcript.avg_logprob
    if best < rules.doubt_logprob and not _agree(_plain(partial), _plain(transcript.text)):
        return True
    rivals = (h.text for h in transcript.hypotheses[1:] if h.avg_logprob >= best - rules.rival_logprob)
    return any(by_ear(text, transcript.locale) in _GOES_ON for text in rivals)


def _may_be_polite(transcript: Transcript) -> bool:
    """Whether the words end in a sound that hides how soon "please" follows."""
    patterns = endpointing(transcript.locale).courtesy
    return any(re.search(pattern, _plain(transcript.text)) for pattern in patterns)


def by_ear(text: str, locale: Locale) -> Completeness:
    """What the words alone say: a bare yes, a hesitation, a dangling word, digits going on, a closing, or nothing."""
    rules, unspaced = endpointing(locale), not space(locale)
    plain = _plain(text)
    if unspaced:
        plain = plain.replace(" ", "")
    if not plain:
        return Completeness.HESITATION
    polite = _ending(plain, tuple(sorted(rules.courtesies)), unspaced)  # 「どうも」 ends in no particle
    signs = (
        (Completeness.YES_NO, plain in rules.yes_no),
        (Completeness.HESITATION, _ending(plain, rules.hesitations, unspaced) > polite),
        (Completeness.DIGITS, _digits_in_progress(plain, rules, unspaced)),
        (Completeness.TRAILING, _ending(plain, rules.trailing, unspaced) > polite),
        (Completeness.TRAILING, any(re.search(pattern, plain) for pattern in rules.unfinished)),
        (Completeness.OPEN, _endings(rules.open, unspaced).search(plain)),
        (Completeness.COMPLETE, len(plain) > _COMMAND_LETTERS and _endings(rules.closings, unspaced).search(plain)),
    )
    return next((kind for kind, seen in signs if seen), Completeness.UNKNOWN)


def binding_ms(text: str, rules: Endpointing) -> int:
    """The silence after which such words may lead to what can't be undone."""
    return rules.binding_ms.get(_plain(text), rules.silence_ms[Completeness.BINDING])


def leaves_out(before: str, text: str) -> bool:
    """Whether `text`, decoded from more voice than `before` was, says no more than it did."""
    earlier, later = _plain(before).replace(" ", ""), _plain(text).replace(" ", "")
    return bool(later) and earlier.startswith(later)


def is_courtesy(text: str, locale: Locale) -> bool:
    """Whether `text` only is polite ("please", 「お願いします」)."""
    plain, courtesies = _plain(text), endpointing(locale).courtesies
    return plain in courtesies or plain.replace(" ", "") in courtesies


def is_backchannel(text: str, locale: Locale) -> bool:
    """Whether `text` only shows that the caller listens ("uh-huh", 「はい」), which stops no reply."""
    plain, backchannels = _plain(text), endpointing(locale).backchannels
    if plain in backchannels or plain.replace(" ", "") in backchannels:
        return True
    return bool(plain) and all(word in backchannels for word in plain.split())


def _plain(text: str) -> str:
    return " ".join(PUNCTUATION.sub(" ", text).lower().split())


@lru_cache(maxsize=64)
def _endings(words: tuple[str, ...], unspaced: bool) -> re.Pattern[str]:
    """Any of `words` at the end; between spaces where the language has them."""
    longest_first = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?:{longest_first})$" if unspaced else rf"(?:^|\s)(?:{longest_first})$")


def _ending(plain: str, words: tuple[str, ...], unspaced: bool) -> int:
    """How much of the end is one of `words`, in characters."""
    found = _endings(words, unspaced).search(plain)
    return 0 if found is None else len(found.group())


def _digits_in_progress(text: str, rules: Endpointing, unspaced: bool) -> bool:
    """Digits one by one at the end, two words of them or three characters: a number that may go on."""
    if _LONG_NUMBER.search(text):
        return True
    if unspaced:
        one = "|".join(re.escape(word) for word in sorted(rules.digits, key=len, reverse=True))
        return re.search(rf"(?:{one}){{3,}}$", text) is not None
    last_two = text.split()[-2:]
    return len(last_two) > 1 and all(word in rules.digits for word in last_two)


def _agree(partial: str, text: str) -> bool:
    """Whether a partial was on the way to `text`; its last word may still have been cut."""
    settled = partial.rpartition(" ")[0] if " " in partial else partial[:-1]
    return bool(settled) and text.startswith(settled)
