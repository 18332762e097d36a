"""Faults to plant in what goes on around a deed: its call, its session, and what is carried out; and who notices."""

from collections.abc import Awaitable, Callable
from functools import partial

from services.call import agent, conversation, reply_queue
from services.execution import deeds, executor, news
from services.session import session
from tests.harness import cut_stories as stories
from tests.harness.cut_stories import AFTERWARDS, STORIES
from tests.harness.mutants import Edit

Check = Callable[[], Awaitable[None]]


def told(story: str, then: str = "nothing") -> Check:
    """That the story's deeds end and are told."""
    return partial(stories.ends_and_is_told, STORIES[story], AFTERWARDS[then])


def back(story: str) -> Check:
    """That the story, taken back, leaves nothing."""
    return partial(stories.taken_back_leaves_nothing, STORIES[story])


def hung_up(story: str) -> Check:
    """That who hangs up in the story leaves nothing open."""
    return partial(stories.hung_up_leaves_nothing_open, STORIES[story])


FAULTS: dict[str, tuple[Edit, Check]] = {
    "a cancelled order is not void": (
        Edit(deeds, "self._session.voids or self._unwanted(event)", "self._unwanted(event)"), told("a cancelled order"),
    ),
    "an order is sealed that nobody waits for": (
        Edit(deeds, " or self._unwanted(event)", ""), told("an order to a slow bank", "cancel"),
    ),
    "what follows behind a stopped reply is decided and not done": (
        Edit(deeds, "            decision = after\n", "            return\n"), told("a code"),
    ),
    "a failure behind a stopped reply is swallowed": (
        Edit(deeds, "event = await self._certain(deed, decision, turn)", "event = await deed"),
        told("a yes of which nobody knows"),
    ),
    "a failure is left to the next reply, which may never come": (
        Edit(deeds, "except BaseException as ending:", "except asyncio.CancelledError as ending:"),
        told("a yes of which nobody knows"),
    ),
    "it is said that something is followed up, and nothing is": (
        Edit(deeds, "kept = await self._executor.follow_up(deed.proposal)", "kept = True"),
        told("a yes of which nobody knows"),
    ),
    "what was withdrawn is decided": (
        Edit(deeds, "if turn.undone or (sealing", "if (sealing"), back("a balance of a slow bank"),
    ),
    "what was withdrawn is said": (
        Edit(deeds, "self._unsaid = [said for said in self._unsaid if said[0] is not self._turn]", "pass"),
        back("a balance"),
    ),
    "what can't be undone is taken back": (
        Edit(deeds, "if self.irrevocable or not", "if not"), back("a yes"),
    ),
    "a turn is taken back with what another has come to": (
        Edit(deeds, "if self.irrevocable or not self._session.revocable:", "if self.irrevocable:"),
        told("a yes to a slow bank", "a cancel taken back"),
    ),
    "two orders are sealed at once": (
        Edit(deeds, "if turn.earlier:", "if False:"), told("an order to a slow bank", "another order"),
    ),
    "an order that failed stays sealed": (
        Edit(deeds, "            await self._void()  # it may be", "            pass  # it may be"),
        told("an order that fails"),
    ),
    "an order of which nobody knows stays sealed": (
        Edit(executor, "await self.void()  # it may be", "pass  # it may be"), told("an order of which nobody knows"),
    ),
    "who hangs up leaves what waits": (Edit(deeds, "if hung_up and self._executor.proposed:", "if False:"),
                                       hung_up("a balance beside an order")),
    "a hang-up is not told to what goes on": (Edit(agent, "close(hung_up=hung_up)", "close(hung_up=False)"),
                                              hung_up("an order")),
    "a call is over before its deeds": (
        Edit(deeds, "            await asyncio.wait(self._behind)", "            pass"),
        partial(stories.cut_off_ends_all_the_same, STORIES["a code"]),
    ),
    "a person who was asked for does not come": (Edit(deeds, "self._handoff = decision", "pass"),
                                                 stories.a_person_comes_all_the_same),
    "what was proposed is not void when it is taken back": (
        Edit(session, "return proposed or self._gave_up", "return False"), back("an order"),
    ),
    "a void order waits for a yes when its end is taken back": (
        Edit(session, "if self._gave_up and", "if False and"), back("a correction"),
    ),
    "a reply tells what came too late for it": (
        Edit(session, "tuple(each for each in unheard(self._state) if each not in self._late)",
             "unheard(self._state)"),
        told("a code to a slow bank", "something else, heard out"),
    ),
    "a receipt counts as told by a reply that came too early": (
        Edit(deeds, "self._late.append(receipt) if late else self._news", "self._news"),
        told("a code to a slow bank", "something else, heard out"),
    ),
    "a yes submits what was sealed last": (
        Edit(executor, " or proposal.id != action.proposal:", ":"), stories.only_what_was_read_back_is_submitted,
    ),
    "what was told is told for ever": (Edit(news, "await self._executor.told(receipt)", "pass"), told("a yes")),
    "a reply that failed counts as heard": (
        Edit(reply_queue, "if draft.reply.state is ReplyState.FAILED:", "if False:"),
        stories.a_reply_that_failed_was_not_heard,
    ),
    "an error is not told when much waits": (
        Edit(conversation, "partial(self.fail, surely=True)", "self.fail"), stories.an_error_is_told_however_much_waits,
    ),
}  # fmt: skip
"""Every planted fault, by what is then wrong."""
