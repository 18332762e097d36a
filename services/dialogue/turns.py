"""What waits its turn, and which of several orders is meant: so much is kept, and the rest refused in words."""

from dataclasses import replace

from schemas.ids import PayeeId
from schemas.intent import Understood
from schemas.span import MoneyValue
from services.dialogue.names import reply
from services.dialogue.phases import Task
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import Memory


def room(memory: Memory) -> int:
    """How many more commands are kept for later."""
    return max(0, dialogue_rules().queued - len(memory.queue))


def waiting(memory: Memory, tasks: tuple[Task, ...], *, next_: bool = False) -> Memory:
    """With as many of the tasks as there is room for, behind what waits or `next_`; that there are more is told."""
    kept = tasks[: room(memory)]
    queue = (*kept, *memory.queue) if next_ else (*memory.queue, *kept)
    memory = replace(memory, queue=queue) if kept else memory
    return memory if len(kept) == len(tasks) else memory.first(reply("say.no_more_kept"))


def is_it(order: Task, which: PayeeId | MoneyValue | int, place: int) -> bool:
    """Whether an order is meant by who gets it, by how much it is, or by its place among them."""
    return which in {order.payee, place} or (which,) == order.amounts


def of_what_went_out(memory: Memory, heard: Understood) -> bool:
    """Whether it is said of the order that was carried out last, of which nothing changes any more."""
    return heard.said_of is not None and memory.ordered is not None and is_it(memory.ordered, heard.said_of, 1)
