"""The words beside a money command's slots, as they are written: rules/intents/LANGUAGE/cue_phrases.yaml."""

from pydantic import Field

from rules.load import RuleFile


class CuePhrasesFile(RuleFile):
    """Words that make a limit of a day, that tell what an unread part is about, and that announce a repair."""

    inexact: tuple[str, ...] = ()  # behind an amount: it is a little more, or less
    withdrawing: tuple[str, ...] = ()  # at the very end: all that was said is called off
    before: tuple[str, ...]  # before a day: a limit
    behind: tuple[str, ...]  # behind a day: a limit
    elsewhere: tuple[str, ...] = ()  # an account that is none of those that are known: "to her other account"
    since: tuple[str, ...] = ()  # beside a day: a history is asked of all from it on
    until: tuple[str, ...] = ()  # the same, of all up to it
    ending: tuple[str, ...] = ()  # the same, of all from another day up to it
    times: tuple[str, ...]  # an unread part is about a day
    later_on: tuple[str, ...] = ()  # beside this day: not now
    places: tuple[str, ...]  # an unread part is about an account
    things: tuple[str, ...] = ()  # what has a day that is none of an order's: "today's dinner"
    speaking: tuple[str, ...] = ()  # what is before a day on which only the call is: "my call"
    elapsed: tuple[str, ...] = ()  # of a day that is over: "last" in "for the beer last week", behind `purposes`
    past_days: tuple[str, ...] = ()  # behind one of them stands what was then
    gone: tuple[str, ...] = ()  # days that are over, on which was done what `lent` says: 昨日借りた二千円
    lent: tuple[str, ...] = ()  # what is given back, or made good
    now: frozenset[str] = frozenset()  # says no day beside an order
    morning: frozenset[str] = frozenset()  # behind a day: when its orders are carried out, and no more
    due_days: frozenset[str] = frozenset()  # the day on which a bill falls due
    same_day: tuple[str, ...] = ()  # between two orders: for the day of the first
    due_or_now: frozenset[str] = frozenset()  # that day, or "in that case"
    due_before: dict[str, int] = Field(default_factory=dict)  # beside that day: so many days before it
    from_its_day: dict[str, int] = Field(default_factory=dict)  # so many days from that of what was read back
    shifting: dict[str, int] = Field(default_factory=dict)  # behind a number of days: so many forward or back
    as_many: str = ""  # between that number and them
    month: str = ""  # in a day of a month, which is no number of days
    unit: str = ""  # behind an amount: its currency's
    of: str = ""  # joins what something is of to it
    month_of: str = ""  # the same, behind a month
    of_a_bill: frozenset[str] = frozenset()  # between a bill and the month it is for
    of_a_day: frozenset[str] = frozenset()  # between a day and a part of it
    as_then: tuple[str, ...] = ()  # behind a day that is over: it tells what is paid for, or how it was then
    apiece: tuple[str, ...] = ()  # each who is named gets it
    every: tuple[str, ...] = ()  # as a whole answer: all of what was asked about
    joined: tuple[str, ...] = ()  # between two bills that are both meant
    shared: tuple[str, ...] = ()  # those who are named have it together
    in_all: tuple[str, ...] = ()  # the sum of what is asked about
    so_many: frozenset[str] = frozenset()  # beside a number of entries that are asked for
    last_one: tuple[str, ...] = ()  # but one of them
    enough: frozenset[str] = frozenset()  # a balance is asked for because of what it is to pay
    by_card: tuple[str, ...] = ()  # what an order is to be paid by, and cannot be
    all_bills: str = ""  # what stands for that, said without what is left out
    all_but: tuple[str, ...] = ()  # all are meant but who or what is named behind it
    deeds: frozenset[str] = frozenset()  # behind "and": something is to be done that no order of ours is
    hanging: tuple[str, ...] = ()  # with these an order hangs on something
    left_there: tuple[str, ...] = ()  # before what is not to go out
    or_else: tuple[str, ...] = ()  # before what is wanted where a condition is not met
    put_off: tuple[str, ...] = ()  # last of all: what was ordered is not to go out yet
    waiting: tuple[str, ...] = ()  # until a day, on which it is done
    across: tuple[str, ...] = ()  # from one of two own accounts to the other
    put_by: tuple[str, ...] = ()  # to `savings`
    handing: frozenset[str] = frozenset()  # given to somebody, and so not moved across
    savings: tuple[str, ...] = ()  # how the account is called that is saved on
    purposes: frozenset[str] = frozenset()  # before what the money is for
    repairs: tuple[str, ...]  # announces something anew
    unannounced: tuple[str, ...] = ()  # only begins like a repair: ある, あ
    not_only: tuple[str, ...] = ()  # behind one of these no repair is one: だけ
    links: tuple[str, ...]  # may stand among repairs
    tails: tuple[str, ...]  # may stand behind what is corrected
    falters: tuple[str, ...] = ()  # alone before what is corrected
    hesitations: tuple[str, ...] = ()  # within a number
    misheard: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # what may be other words, and which
    within_numbers: tuple[str, ...] = ()  # besides hesitations
    joints: tuple[str, ...] = ()  # within a number, before a hesitation or behind it
    not_now: tuple[str, ...] = ()  # puts off what is ordered
    undoing: tuple[str, ...] = ()  # takes back what was said before
    calling_off: tuple[str, ...] = ()  # before what was ordered once: it is not to go
    from_start: tuple[str, ...] = ()  # takes back all of it
    first: tuple[str, ...] = ()  # something is wanted before it, or besides
    all: tuple[str, ...] = ()  # every account
    intended: tuple[str, ...] = ()  # what follows was meant once
    verbs: frozenset[str] = frozenset()  # behind one of these a repair is a verb: "ann can wait"
    dont: tuple[str, ...] = ()  # at the start: before what is not meant
    counters: tuple[str, ...] = ()  # behind a number that is no amount
    instead_of: tuple[str, ...] = ()  # before what is wanted in its place
    dropping: tuple[str, ...] = ()  # behind an order that is not wanted at all
    because: tuple[str, ...] = ()  # ends a reason
    occasions: tuple[str, ...] = ()  # a day before one of these, and a reason, is none of an order's
    this_time: tuple[str, ...] = ()  # a day that is only what is spoken of
    starting: tuple[str, ...] = ()  # right behind a day: the same
    falling_due: tuple[str, ...] = ()  # among these: it is the order's after all
    wishes: tuple[str, ...] = ()  # ask for what was told before them
    outof: tuple[str, ...] = ()  # behind an account that pays
    onto: tuple[str, ...] = ()  # behind an account that is paid into
    other_account: tuple[str, ...] = ()  # the other account of two, by its part
    other_one: tuple[str, ...] = ()  # the other of two
    parts: tuple[str, ...] = ()  # the parts of an order by their names
    swaps: tuple[str, ...] = ()  # the two accounts change places
    spelled: dict[str, str] = Field(default_factory=dict)  # numbers with their digits
    scales: tuple[str, ...] = ()  # words that need a number before them
    pointing: frozenset[str] = frozenset()  # a number after one of these is no amount
    rather: tuple[str, ...] = ()  # between what is not meant and what is
    denials: tuple[str, ...]  # before what is not meant
    over: tuple[str, ...] = ()  # before what is not meant, and behind what is
    denied: tuple[str, ...] = ()  # behind what is not meant
    conditions: tuple[str, ...]  # makes of a part what no order can hold; in a language without spaces it ends it
    repeats: tuple[str, ...] = ()  # such a part by itself: ずつ三回, 毎月
    notes: tuple[str, ...] = ()  # should go with the money
    standing: tuple[str, ...] = ()  # an order that recurs
    single: str = ""  # what is wanted in the place of such an order
    unmeasured: tuple[str, ...] = ()  # an amount that only the caller knows; before an amount, a part of it
    hedged: tuple[str, ...] = ()  # behind its first word it only puts a wish softly
    reckoned: tuple[str, ...] = ()  # an amount by what was sent before, or by what a balance holds
    whole: tuple[
        str, ...
    ] = ()  # all of something, of which a number behind one of the next is left out, or is the least
    bounding: tuple[str, ...] = ()
    reckoning: tuple[str, ...] = ()  # words beside that which belong to it
    remaining: tuple[str, ...] = ()  # what is left of it
    emptying: tuple[str, ...] = ()  # before an account: all of it is to go
    staying: tuple[str, ...] = ()  # before an amount: so much is not sent
    keeping: tuple[str, ...] = ()  # before an account or a sum: so much it is to hold
    moving: str = ""  # what is ordered where an account is emptied
    halves: tuple[str, ...] = ()  # twice: one sum in parts
    shared_out: tuple[str, ...] = ()  # several get one sum
    particles: frozenset[str] = frozenset()  # behind one of these a condition begins, in a language without spaces
    short_below: int = 0  # below this a bare number in words may be short for
    short_of: int = 1  # so many times as much: 百五十 for 百五十万
