"""The words beside a money command's slots, as they are written: rules/intents/LANGUAGE/accounts.yaml."""

from pydantic import Field

from rules.load import RuleFile


class AccountsFile(RuleFile):
    """Words that make limits of days, words that tell what an unread part is about, and words that announce repairs.

    A day that one of `things` has is none of an order's ("today's dinner"), nor is one behind `speaking` ("my call"),
    nor one with an `elapsed` word behind `purposes` ("for the beer last week"). `now` says no day beside an order, nor
    does one of `gone` before one of `lent` (昨日借りた二千円), and `due_days` are the day on which its bill falls due,
    or, with `due_before` beside them, so many days before it. With `apiece` each who is named gets it, and of two
    bills that are `joined` both are meant, but where a word of `shared` says that they have it together; what is
    between several payees `in_a_row` is a pattern. What is moved
    `across` from one of two own accounts, and handed to nobody (`handing`), goes to the other, and to `savings` what is
    `put_by`. What is `waiting` until a day is done on it. `inexact` words behind an amount leave open how much it
    is. `withdrawing` words at the very end call off all that was said.
    `morning` behind a day is when its orders are carried out, and says nothing more; `from_its_day` counts from the
    day of what was read back, and so does a number of days with one of `shifting` behind it, forward or back.
    Words of `unannounced` only begin like one that announces a repair (ある, あ), and
    behind `not_only` (だけ) none is; `links` may stand among those, `tails` behind what is corrected, `falters` alone
    before it;
    these and `hesitations` stand within a number, and `joints` behind them; `not_now` puts off what is ordered;
    `undoing` words take back what was said, `from_start` all of it; `first` ones want something before or besides it,
    `all` is every account; what follows `intended` was meant once; `instead_of` stands before what is wanted in its
    place, and `dropping` words behind an order say that it is not wanted at all; `because` ends a reason, and `wishes`
    ask for what was told before them; a day before one of `occasions`, or
    right before one of `starting`, and a reason, with no word of `falling_due` among
    them, is none of an order's;
    behind one of `verbs` such a word is a verb ("ann can wait"); `dont` stands before what is not meant, at the start;
    after `swaps` the two accounts change places; an account pays before `outof`, and is paid into before `onto`;
    after `denials` and `over`, and before `denied`, stands what is not meant, and `rather` between it and what is.
    `spelled` has numbers with their digits, `scales` words that need a number before them; after `pointing` words a
    number is no amount. `conditions` make of a part what no order of ours can hold; in a language without spaces they
    end it, and it begins behind one of `particles`; one of `repeats` is such a part by itself (ずつ三回, 毎月).
    `notes` should go with the money, `unmeasured` words tell an amount that only the caller knows, before an
    amount a part of it; with one of `shared_out` several get one sum; in the place of a `standing` order stands a
    `single` one.
    """

    inexact: tuple[str, ...] = ()
    withdrawing: tuple[str, ...] = ()
    before: tuple[str, ...]
    behind: tuple[str, ...]
    times: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...] = ()
    speaking: tuple[str, ...] = ()
    elapsed: tuple[str, ...] = ()
    past_days: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()
    now: frozenset[str] = frozenset()
    morning: frozenset[str] = frozenset()
    due_days: frozenset[str] = frozenset()
    due_before: dict[str, int] = Field(default_factory=dict)
    from_its_day: dict[str, int] = Field(default_factory=dict)
    shifting: dict[str, int] = Field(default_factory=dict)
    apiece: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    in_a_row: str = ""
    shared: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    put_by: tuple[str, ...] = ()
    handing: frozenset[str] = frozenset()
    savings: tuple[str, ...] = ()
    purposes: frozenset[str] = frozenset()
    repairs: tuple[str, ...]
    unannounced: tuple[str, ...] = ()
    not_only: tuple[str, ...] = ()
    links: tuple[str, ...]
    tails: tuple[str, ...]
    falters: tuple[str, ...] = ()
    hesitations: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    not_now: tuple[str, ...] = ()
    undoing: tuple[str, ...] = ()
    from_start: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    intended: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    dont: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    instead_of: tuple[str, ...] = ()
    dropping: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    occasions: tuple[str, ...] = ()
    starting: tuple[str, ...] = ()
    falling_due: tuple[str, ...] = ()
    wishes: tuple[str, ...] = ()
    outof: tuple[str, ...] = ()
    onto: tuple[str, ...] = ()
    other_account: tuple[str, ...] = ()
    other_one: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    swaps: tuple[str, ...] = ()
    spelled: dict[str, str] = Field(default_factory=dict)
    scales: tuple[str, ...] = ()
    pointing: tuple[str, ...] = ()
    rather: tuple[str, ...] = ()
    denials: tuple[str, ...]
    over: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    conditions: tuple[str, ...]
    repeats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    single: str = ""
    unmeasured: tuple[str, ...] = ()
    shared_out: tuple[str, ...] = ()
    particles: frozenset[str] = frozenset()
    short_below: int = 0
    short_of: int = 1
