"""An order within a story, which tells other sums, days and people: "he paid me on thursday, so send him fifty".

The clause that orders is read by itself, wherever it stands. What it leaves to the story is taken from there: whom
"him" means where one person is told of, which sum "that" is, and which reading of "one eighty" is of the story's size.
"""

import re
from dataclasses import replace
from typing import Final

from schemas.ids import AccountId, PayeeId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, Slot, SlotName, Topic, Understood
from schemas.span import SUMS, MoneyValue, SpanKind, of_their_size, overlap
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.vocabulary import owned
from services.understanding.offers.story import RULE, Story, idle, ordered_before, stories

_SURE: Final = 0.5
_MOST: Final = 3
"""People of a story of whom it is asked which is meant."""
_OPEN: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE})
"""What an order may leave to the story."""


def storied(said: Said, found: Understood) -> Understood | None:
    """The order; None where no clause is one by itself beside a story, or all was read with nothing of the story's."""
    if not said.context.idle or said.context.code or (found.then is not None and SlotName.PAYEE not in found.missing):
        return None
    read = found.sure and not found.missing and not found.doubted
    for story in stories(said):
        if read and _settled(found, story):
            return None
        order = _order(story) if idle(story) else None
        own = order is not None and order.slots.amount is not None
        meant = _told(story, order) if order is not None and (own or not read) else None
        if meant is not None and not ordered_before(story):
            return meant
    return None


def _settled(found: Understood, story: Story) -> bool:
    """Whether neither the amount nor the day of what was read is the story's."""
    slots = [slot for slot in (found.slots.amount, found.slots.date) if slot is not None]
    several = found.slots.amount is not None and found.slots.amount.readings
    return found.intent not in MONEY_MOVING or not (several or any(story.tells(s.evidence.start) for s in slots))


def _order(story: Story) -> Understood | None:
    """What the clause orders by itself, of which nothing is open but what the story may tell."""
    said = story.said
    plain, rest = _plain(story)
    if plain == said.text:
        return None
    order = said_in(said.again(plain), said.text)
    if not _whole(order):
        order = _with_account(story, plain) or order
    if not _whole(order) or (rest is not None and not said.rules.spaced):
        return None
    if rest is None or order.slots.amount is not None:
        return order
    topic: Slot[str] = Slot(Topic.EXACT, said.heard.evidence(*rest.span(), RULE))
    return replace(order, slots=replace(order.slots, topic=topic))


def _plain(story: Story) -> tuple[str, re.Match[str] | None]:
    """The clause without the words that only a story needs, as long as the text; and what is left of its sums."""
    said, patterns = story.said, story.said.rules.patterns.stories
    plain = " " * story.begin + said.text[story.begin : story.end] + " " * (len(said.text) - story.end)
    plain = _put(plain, patterns.owed.match(plain, story.begin, story.end), patterns.owed_to)
    spans = [span for span in said.heard.spans if span.kind in SUMS and not story.tells(span.start)]
    for begin, end in [(span.start, span.end) for span in spans]:
        plain = _put(plain, patterns.before_sum.search(plain, story.begin, begin))
        plain = _put(plain, patterns.behind_sum.match(plain, end, story.end) if story.talk.strip() else None)
    if not story.talk.strip():
        return plain, patterns.rest_of_it.search(plain) if not said.rules.spaced else None
    plain = _with_its_sum(story, plain)
    that = patterns.that_sum.search(plain, story.begin, story.end)
    plain = _put(plain, patterns.behind_sum.match(plain, that.end(), story.end) if that is not None else None)
    rest = patterns.rest_of_it.search(plain, story.begin, story.end)
    return _put(plain, rest, patterns.rest_as), rest


def _put(text: str, at: re.Match[str] | None, words: str = "") -> str:
    """The text with other words there, or none, and as long as it was."""
    return text if at is None else text[: at.start()] + words.ljust(len(at[0])) + text[at.end() :]


def _with_account(story: Story, plain: str) -> Understood | None:
    """The order with the own account at its end that pays, of which no word says so: "give her twenty, my savings"."""
    said, units = story.said, story.said.units
    beside = said.rules.words.outof | said.rules.words.onto
    for account, (first, last) in owned(said.hearing.nouns, units.words, len(units.words)).get("account", {}).items():
        begin, end = units.starts[first], units.ends[last - 1]
        alone = said.rules.spaced and beside.isdisjoint(units.words[max(0, first - 2) : first])
        if alone and begin > story.begin and not plain[end:].strip():
            order = said_in(said.again(plain[:begin].ljust(len(plain))), said.text)
            source = Slot(AccountId(account), said.heard.evidence(begin, end, RULE))
            return None if order.slots.source else replace(order, slots=replace(order.slots, source=source))
    return None


def _with_its_sum(story: Story, plain: str) -> str:
    """The clause with the story's sum in place of the word for it that it begins with: 「それを普通から払って」."""
    that = None if story.said.rules.spaced else story.said.rules.patterns.stories.that_sum.match(plain, story.begin)
    if that is None or not story.sums:
        return plain
    said = story.sums[-1].surface
    return plain[: that.end() - len(said)] + said + plain[that.end() :] if len(said) <= that.end() else plain


def _whole(order: Understood) -> bool:
    """Whether it is an order of which nothing is open but how much and to whom."""
    second = order.then is None or (_whole(order.then) and not (order.then.missing or order.then.then))
    closed = second and not (order.unread or order.unresolved or order.rejected or order.doubted)
    if not closed or order.rule is None or order.route is not Route.FAST or not _OPEN.issuperset(order.missing):
        return False
    return order.intent in CARDS or order.intent in MONEY_MOVING


def _told(story: Story, order: Understood) -> Understood | None:
    """The order with what it leaves to the story; offered, where no word says that it follows from that."""
    said, slots = story.said, order.slots
    missing, sure = set(order.missing), story.sure
    if order.intent is Intent.TRANSFER_MONEY:
        amount = _amount(story, order)
        payee = None if _of_an_account(order) else slots.payee
        payee = payee or (None if slots.target else _payee(story))
        slots = replace(slots, amount=amount, payee=payee)
        missing = missing | ({SlotName.PAYEE} if payee is None and not slots.target else set())
        missing -= {name for name, slot in ((SlotName.AMOUNT, amount), (SlotName.PAYEE, payee)) if slot}
        behind = said.rules.spaced and story.end < len(said.text)
        if (
            missing >= _OPEN
            or (SlotName.AMOUNT in missing and behind)
            or (SlotName.AMOUNT in missing and (not story.sums or story.beside_a_sum))
        ):
            return None
        if SlotName.PAYEE in missing and not said.rules.spaced:
            return None
        sure = sure and not _taken_alone(story, order) and not said.rules.patterns.stories.claimed.search(story.talk)
    drawn = _drawn(story) if order.intent in MONEY_MOVING and slots.source is None else None
    within = drawn is not None and not story.tells(drawn.evidence.start)
    slots = replace(slots, source=drawn) if within else slots
    who = (Mention(SlotName.SOURCE, drawn.evidence),) if drawn is not None and not within else ()
    route = order.route if sure else Route.CLARIFY
    confidence = order.confidence if sure else _SURE
    open_ = tuple(name for name in SlotName if name in missing)
    meant = replace(order, slots=slots, missing=open_, unresolved=who, route=route, confidence=confidence)
    doubted = (SlotName.PAYEE,) if slots.payee is not None and slots.payee.readings else ()
    return replace(meant, rule=RULE, doubted=doubted, payees=order.payees or said.heard.payees)


def _drawn(story: Story) -> Slot[AccountId] | None:
    """The own account that is told to pay: whether one that only the story names pays the order too is asked."""
    said, units = story.said, story.said.units
    found: list[Slot[AccountId]] = []
    for part, edge, account in own_accounts(said.hearing):
        begin, end = units.starts[edge.start], units.ends[edge.end - 1]
        led = units.words[max(0, edge.start - 2) : edge.start] if said.rules.spaced else ()
        pays = not said.rules.words.outof.isdisjoint(led) or said.rules.cues.outof.scan(units.words, edge.end)
        if part == "source" and pays:
            found.append(Slot(AccountId(account), said.heard.evidence(begin, end, RULE)))
    return min(found, key=lambda each: story.tells(each.evidence.start), default=None)


def _amount(story: Story, order: Understood) -> Slot[MoneyValue] | None:
    """The order's own amount, of the story's size; else the sum that it speaks of: "pay them that"."""
    said, own = story.said, order.slots.amount
    values = [value for span in story.sums for value in comes_to(span, said.heard)]
    once = [span for span in story.sums if said.rules.patterns.stories.rate.match(said.text, span.end) is None]
    sure = [comes_to(span, said.heard)[0] for span in once if len(comes_to(span, said.heard)) == 1]
    if own is not None:
        value, *others = of_their_size((own.value, *own.readings), sure)
        return replace(own, value=value, readings=tuple(others))
    clause = said.text[story.begin : story.end]
    if story.beside_a_sum:
        return None
    if not values or order.slots.topic is not None or not _speaks_of_it(story, clause):
        return None
    last = story.sums[-1]
    value, *others = of_their_size(comes_to(last, said.heard), sure)
    return Slot(value, Evidence.of(last), tuple(others))


def _taken_alone(story: Story, order: Understood) -> bool:
    """Whether the only sum of a story is the order's though nothing says so, nor that another has paid it."""
    patterns, had = story.said.rules.patterns.stories, order.slots.amount is not None or not story.sums
    spoken = had or patterns.that_sum.search(story.said.text, story.begin, story.end) is not None
    return not spoken and not story.said.rules.spaced and patterns.paid_for_me.search(story.said.text) is None


def _speaks_of_it(story: Story, clause: str) -> bool:
    """Whether an order without a sum means one that was told; where nothing need be said for it, the only one."""
    patterns = story.said.rules.patterns.stories
    alone = not story.said.rules.spaced and len(story.sums) == 1 and story.sums[0].kind is SpanKind.MONEY
    return alone or patterns.that_sum.search(clause) is not None


def _of_an_account(order: Understood) -> bool:
    """Whether the one who is named but has the account that pays: "pay him fifty from mom's checking"."""
    payee, source = order.slots.payee, order.slots.source
    return payee is not None and source is not None and overlap(payee.evidence, source.evidence)


def _payee(story: Story) -> Slot[PayeeId] | None:
    """Who is told to have paid for the caller; else whoever is told of, of whom one is meant."""
    said, patterns = story.said, story.said.rules.patterns.stories
    spoken = (patterns.pronoun, patterns.owed, patterns.that_sum)
    meant = not said.rules.spaced or any(each.search(said.text, story.begin, story.end) for each in spoken)
    people = sorted(_spoken_of(story), key=lambda each: each[1].start) if meant else []
    lender = _lender(story)
    if lender is not None or not 0 < len(people) <= _MOST:
        return lender
    (first, evidence), *others = people
    return Slot(first, evidence, tuple(id_ for id_, _ in others))


def _spoken_of(story: Story) -> list[tuple[PayeeId, Evidence]]:
    """Who is told of, but for a relative whom the order's "him" or "her" can't mean."""
    said, patterns, people = story.said, story.said.rules.patterns.stories, list(story.people().items())
    who = patterns.pronoun.search(said.text, story.begin, story.end)
    other = {"him": patterns.not_him, "her": patterns.not_her}.get(who[0].casefold() if who is not None else "")
    return [one for one in people if other is None or not other.fullmatch(one[1].surface)]


def _lender(story: Story) -> Slot[PayeeId] | None:
    """Who is told to have paid for the caller: 「妹が立て替えてくれた」."""
    said = story.said
    for match in said.rules.patterns.stories.paid_for_me.finditer(said.text):
        who = said.called(match["name"])
        if who is not None and who.choice is not None:
            return Slot(PayeeId(who.choice), said.heard.evidence(*match.span("name"), RULE))
    return None
