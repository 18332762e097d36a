"""What is said to a read-back, inside the money machine: plain yeses, and yeses with all else beside them."""

from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from deploy.bench.cases.consents import ANY, LAST_ONLY, ConsentsFile, consents
from schemas.decision import Execute, SubmitTransfer
from schemas.ids import EN_US, JA_JP, CallId, Locale
from schemas.transcript import Hypothesis, Source, Transcript
from services.dialogue import (
    Confirming,
    DialogueState,
    Facts,
    ReadBack,
    Reading,
    UserUtterance,
    context_of,
    decide,
    voided,
)
from services.dialogue.names import reply
from services.dialogue.tasks import task_for
from services.interpretation import InterpretationContext, interpret
from services.observability.metrics import Stamps
from services.payees import PayeeIndex
from tests.harness.money import ANN
from tests.harness.money_world import Promise
from tests.harness.stories import MoneyStories

FOLDER = Path(__file__).parents[1] / "data" / "consent"
WORDS: dict[Locale, tuple[ConsentsFile, str]] = {
    EN_US: (consents(FOLDER / "en.yaml"), " "),
    JA_JP: (consents(FOLDER / "ja.yaml"), ""),
}


@dataclass(frozen=True)
class Spoken:
    """An answer, and whether it is a plain yes."""

    transcript: Transcript
    plain: bool


@st.composite
def answers(draw: st.DrawFn) -> Spoken:
    """A plain yes; a yes with something else, in pieces; or a yes that may have been something else."""
    locale = draw(st.sampled_from([EN_US, JA_JP]))
    file, gap = WORDS[locale]
    yes = draw(st.sampled_from(file.confirmations[ANY]))
    kind = draw(st.sampled_from(["plain", "plain", "mixed", "mixed", "heard two ways"]))
    if kind == "plain":
        parts = (draw(st.sampled_from(file.courtesies_before)), yes, draw(st.sampled_from(file.courtesies_after)))
        return Spoken(Transcript.typed(gap.join(filter(None, parts)), locale), plain=True)
    group = draw(st.sampled_from(sorted(file.others)))
    other = draw(st.sampled_from(file.others[group])).partition(" => ")[0]
    pieces = [yes, other]
    if group != LAST_ONLY:
        pieces = draw(st.permutations([*pieces, *draw(st.lists(st.sampled_from(file.confirmations[ANY]), max_size=1))]))
    text = pieces[0]
    for piece in pieces[1:]:
        text += draw(st.sampled_from(file.joiners)) + gap + piece
    if kind == "mixed":
        return Spoken(Transcript.typed(text, locale), plain=False)
    near = (Hypothesis(yes, -0.30), Hypothesis(text, -0.31))
    return Spoken(Transcript(yes, locale, near, source=Source.SPEECH), plain=False)


class MoneyTalk(MoneyStories):
    """The machine, told its yeses in words: only a plain one reaches the ledger."""

    @precondition(lambda self: self.promises)
    @rule(spoken=answers(), hears=st.booleans())
    def say(self, spoken: Spoken, hears: bool) -> None:
        promise = self.promises[-1]
        if hears:
            self.hear(promise)
        self._said(promise, spoken)

    @rule(spoken=answers(), call=st.sampled_from([CallId("call-1"), CallId("call-2")]))
    def order_and_say(self, spoken: Spoken, call: CallId) -> None:
        if promise := self._ordered(call, 1_000):
            self._said(promise, spoken)

    def _said(self, promise: Promise, spoken: Spoken) -> None:
        order = promise.proposal.order
        it = ReadBack(task_for(order), order, promise.proposal.id, reply("confirm.yes_or_no"))
        state = DialogueState(Confirming(it) if promise.heard else Reading(it))
        facts = Facts(self.run(self.house.bank.profile(ANN)), {}, self.clock.now().date(), spoken.transcript.locale)
        context = InterpretationContext(context_of(state, facts), self.clock.now(), ("USD",))
        found = interpret(spoken.transcript, context, PayeeIndex.build((), facts.today), Stamps(lambda: 0.0))
        after, decision = decide(state, UserUtterance(spoken.transcript.text, found.understood), facts)
        agreed = isinstance(decision, Execute) and isinstance(decision.action, SubmitTransfer)
        assert agreed == (spoken.plain and promise.heard), f"{spoken.transcript.text!r} was taken wrongly"
        if agreed:
            self.agree(promise, "right")
        elif voided(state, after):
            self.correct(promise.proposal.call)
