"""What was done is told until it was heard, and words right after it are answered with what can still be done."""

import re
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Final, NamedTuple

from rules.load import RuleFile, load
from rules.locales import space
from schemas.banking import TransferState
from schemas.decision import Answer, Clarify, Reply
from schemas.ids import Locale, language
from schemas.intent import MONEY_MOVING, Intent, Route
from schemas.transcript import PUNCTUATION
from services.dialogue.events import Event, Facts, Silence, UserUtterance
from services.dialogue.names import both, reply
from services.dialogue.phases import (
    ActionOutcome,
    Confirming,
    Idle,
    OfferingPerson,
    Outcome,
    Reading,
    SteppingUp,
    Submitting,
    Unlocking,
)
from services.dialogue.resume import dropped, go_on, to_a_person
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step

_PERSON_HELPS: Final = frozenset({ActionOutcome.MOVED, ActionOutcome.BOOKED, ActionOutcome.PENDING})
"""What nothing in the bank's core takes back: a person may."""
_ACTS: Final = frozenset(
    {Intent.CONFIRM, Intent.DENY, Intent.CANCEL, Intent.CORRECT, Intent.INFORM, Intent.WAIT, Intent.FAREWELL, None}
)
"""What may be about the thing done; any other intent is a wish of its own."""
_UNDOES: Final = frozenset({None, Intent.QNA, Intent.DENY, Intent.CANCEL, Intent.CORRECT, Intent.INFORM})
"""What words that undo an order made before may have been taken for."""


class Aftermath(RuleFile):
    """rules/dialogue/aftermath_<language>.yaml: what is said right after something was done."""

    content: tuple[str, ...]
    regret: tuple[str, ...]
    asks: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    mistaken: tuple[str, ...] = ()
    bookings: re.Pattern[str] = re.compile("(?!)")
    undoes: re.Pattern[str] = re.compile("(?!)")
    undoes_it: re.Pattern[str] = re.compile("(?!)")
    cancels: re.Pattern[str] = re.compile("(?!)")
    agrees: re.Pattern[str] = re.compile("(?!)")


def done_with(state: TransferState) -> ActionOutcome:
    """What became of a transfer, as callers mind it."""
    match state:
        case TransferState.SUCCEEDED:
            return ActionOutcome.MOVED
        case TransferState.CONFIRMED:
            return ActionOutcome.BOOKED
        case TransferState.UNKNOWN | TransferState.SUBMITTING:
            return ActionOutcome.PENDING
        case _:
            return ActionOutcome.NOTHING


def noted(memory: Memory, done: ActionOutcome, told: Reply) -> Memory:
    """With something done, which `told` says, to be told until it was heard."""
    outcome = Outcome(done, told)
    made = outcome if done in _PERSON_HELPS else memory.made
    booked = (*memory.booked, told) if done is ActionOutcome.BOOKED else memory.booked
    return replace(memory, outcomes=(*_unheard(memory), outcome), made=made, booked=booked)


def unheard(state: DialogueState) -> tuple[Outcome, ...]:
    """What was done and not yet heard of."""
    return _unheard(state.memory)


def _unheard(memory: Memory) -> tuple[Outcome, ...]:
    return tuple(outcome for outcome in memory.outcomes if not outcome.heard)


def heard(memory: Memory, told: tuple[Outcome, ...]) -> Memory:
    """`told` has been heard."""
    return replace(memory, outcomes=tuple(replace(o, heard=True) if o in told else o for o in memory.outcomes))


def passed(memory: Memory) -> Memory:
    """Something else was said: what was heard is no longer what "no" or "wait" is about."""
    return replace(memory, outcomes=_unheard(memory)) if memory.outcomes else memory


def reacted(state: DialogueState, event: Event, facts: Facts) -> Step | None:
    """What to say to words about what was just done, after it was told again where that is due; None for others."""
    again, locale = bool(unheard(state)), facts.locale
    if isinstance(event, UserUtterance):
        told = _undone(state, event, locale, again=again) or _booked(state, event, facts)
        if (told := told or _of_what_was_made(state, event, locale)) is not None:
            return told
    if not state.memory.outcomes or not isinstance(state.phase, Idle):
        return None
    match event:
        case Silence():
            return (state, Answer()) if again else None
        case UserUtterance(extraction=None):
            return _said(state, event, facts.locale, again=again)
        case _:
            return None


def _undone(state: DialogueState, event: UserUtterance, locale: Locale, *, again: bool) -> Step | None:
    """What can still be done about an order that was made in this call, where words undo it by name.

    And once more to who wants it undone at the offer of a person; with a yes before it that is what is offered.
    """
    heard, made, ordered, rules = event.understood, state.memory.made, state.memory.ordered, _rules(locale)
    if heard.intent not in _UNDOES or event.extraction is not None:
        return None
    if isinstance(state.phase, OfferingPerson):
        if made is None or not rules.cancels.search(event.text):
            return None
        agreed = rules.agrees.match(event.text) is not None  # 「はい、取り消して」
        return (dropped(state), to_a_person(state)) if agreed else _too_late(state, made, told_now=False)
    last = state.memory.outcomes[-1] if state.memory.outcomes else made
    it = made is not None and last == made and rules.undoes_it.fullmatch(_plain(event.text, locale)) is not None
    if not isinstance(state.phase, Idle) or not (it or rules.undoes.search(event.text)):
        return None
    if made is None:
        return (state, Answer(reply=reply("cancel.nothing"))) if heard.intent is None else None
    named = heard.payees.choice if heard.payees is not None else None
    another = named is not None and ordered is not None and named != ordered.payee
    return None if another else _too_late(state, made, told_now=again)


def _of_what_was_made(state: DialogueState, event: UserUtterance, locale: Locale) -> Step | None:
    """The last order that went out, asked about after other words than those right behind it: "has it gone"."""
    memory = state.memory
    of_it = memory.recent is None or memory.recent.intent in MONEY_MOVING | {Intent.BALANCE_INQUIRY}
    if memory.made is None or memory.outcomes or not (of_it and isinstance(state.phase, Idle)):
        return None
    return (state, Answer(reply=memory.made.told)) if _asks(event.text, locale) else None


def _booked(state: DialogueState, event: UserUtterance, facts: Facts) -> Step | None:
    """What was booked in this call, where bookings are asked about: nobody here knows of others."""
    heard, booked = event.understood, state.memory.booked
    unread = heard.route is not Route.FAST or heard.intent in {None, Intent.QNA}
    order = isinstance(state.phase, Reading | Confirming | Submitting | SteppingUp | Unlocking)
    if not unread or order or event.extraction is not None or not _rules(facts.locale).bookings.search(event.text):
        return None
    if unheard(state) and len(booked) == 1:  # it is told before this
        return go_on(state, reply("booked.others"), facts)
    told = (*booked[-dialogue_rules().bills_listed :], reply("booked.others")) if booked else (reply("booked.none"),)
    first = (reply("booked.count", count=len(booked)),) if len(booked) > 1 else ()
    return go_on(state, reduce(both, (*first, *told)), facts)


def _said(state: DialogueState, event: UserUtterance, locale: Locale, *, again: bool) -> Step | None:
    """`again`: what was done is told again before this."""
    intent = event.understood.intent
    if _asks(event.text, locale) or (again and intent is Intent.REPEAT):
        return state, Answer() if again else Answer(reply=state.memory.outcomes[-1].told)
    if intent is Intent.FAREWELL:
        return state, Answer(reply=reply("say.goodbye"))
    wrong = event.understood.by(*dialogue_rules().gone_wrong)
    corrects = (intent in MONEY_MOVING and _instead(event.text, locale)) or (
        intent is Intent.QNA and _meant(event.text, locale)
    )
    urges = intent is None and _content(event.text, locale)  # はい、すぐお願いします, of what is done
    if intent not in _ACTS and not (corrects or wrong or urges):
        return None
    if intent is Intent.CONFIRM or _content(event.text, locale):
        return state, Answer() if again else Clarify(reply("say.ok_what_else"))
    if wrong or _regret(event.text, intent, locale):
        return _too_late(state, state.memory.outcomes[-1], told_now=again)
    return None


def _too_late(state: DialogueState, last: Outcome, *, told_now: bool) -> Step:
    """The truth: what was done stands, and what can still be done about it."""
    said = reply(f"after.{last.done.value}")
    if not told_now and last.done is not ActionOutcome.NOTHING:
        said = both(last.told, said)
    if last.done in _PERSON_HELPS:
        return state.at(OfferingPerson()), Clarify(said)
    return state, Answer(reply=said)


def _content(text: str, locale: Locale) -> bool:
    return _patterns(locale).content.fullmatch(_plain(text, locale)) is not None


def _asks(text: str, locale: Locale) -> bool:
    return _patterns(locale).asks.fullmatch(_plain(text, locale)) is not None


def _instead(text: str, locale: Locale) -> bool:
    """Whether it puts something in the place of what was done: "to dave instead"."""
    return _plain(text, locale).endswith(_endings(locale)) or _meant(text, locale)


def _meant(text: str, locale: Locale) -> bool:
    """Whether it tells what was meant: "sorry, it should have been from savings", 「本当は一万円」."""
    return _patterns(locale).meant.match(_plain(text, locale)) is not None


def _regret(text: str, intent: Intent | None, locale: Locale) -> bool:
    turned_down = intent in {Intent.DENY, Intent.CANCEL} or _instead(text, locale)
    return turned_down or _patterns(locale).regret.match(_plain(text, locale)) is not None


def _plain(text: str, locale: Locale) -> str:
    return space(locale).join(PUNCTUATION.sub(" ", text.replace("’", "'")).lower().split())


@lru_cache(maxsize=8)
def _rules(locale: Locale) -> Aftermath:
    return load(f"dialogue/aftermath_{language(locale)}.yaml", Aftermath)


@lru_cache(maxsize=8)
def _endings(locale: Locale) -> tuple[str, ...]:
    return tuple(f"{space(locale)}{each}" for each in _rules(locale).instead)


class _Phrases(NamedTuple):
    """Nothing but contentment, the beginning of regret, what asks if it was done, and what was meant instead."""

    content: re.Pattern[str]
    regret: re.Pattern[str]
    asks: re.Pattern[str]
    meant: re.Pattern[str]


@lru_cache(maxsize=8)
def _patterns(locale: Locale) -> _Phrases:
    rules = _rules(locale)
    between, end = space(locale), r"\b" if space(locale) else ""
    content, regret = _either(rules.content), _either(rules.regret)
    before = f"(?:(?:{content}|{regret}){between})*" if between else ".*?"
    return _Phrases(
        content=re.compile(rf"{content}(?:{between}{content})*"),
        regret=re.compile(rf"(?:{content}{between})*{regret}{end}"),
        asks=re.compile(rf"(?:{content}{between})*{_either(rules.asks)}(?:{between}{content})*"),
        meant=re.compile(f"{before}{_either(rules.mistaken)}{end}(?! to )"),
    )


def _either(phrases: tuple[str, ...]) -> str:
    if not phrases:
        return "(?!)"
    return f"(?:{'|'.join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))})"
