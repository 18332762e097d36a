"""What waits its turn: so much is kept, and what there is no room for is refused in words."""

from dataclasses import replace

from services.dialogue.names import reply
from services.dialogue.phases import Memory, Task
from services.dialogue.rules import dialogue_rules


def room(memory: Memory) -> int:
    """How many more commands are kept for later."""
    return max(0, dialogue_rules().queued - len(memory.queue))


def waiting(memory: Memory, tasks: tuple[Task, ...], *, next_: bool = False) -> Memory:
    """With as many of the tasks as there is room for, behind what waits or `next_`; that there are more is told."""
    kept = tasks[: room(memory)]
    queue = (*kept, *memory.queue) if next_ else (*memory.queue, *kept)
    memory = replace(memory, queue=queue) if kept else memory
    return memory if len(kept) == len(tasks) else memory.first(reply("say.no_more_kept"))
