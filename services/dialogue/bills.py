"""What is due, and when: a bill, or the next ones."""

from dataclasses import replace

from schemas.banking import Bill
from schemas.decision import Reply
from schemas.intent import Topic
from services.dialogue.asked import asked_of_bills, by_day
from services.dialogue.events import Facts
from services.dialogue.names import bill, both, day_name, open_bills, reply, told_of
from services.dialogue.phases import Task
from services.dialogue.rules import dialogue_rules


def bills_due(task: Task, facts: Facts) -> Reply:
    """What is due, and when: for the bill asked about, else for the next ones."""
    due = bill(facts, task.bill)
    if due is not None and due.id in facts.paid and task.asked != Topic.OTHERS:
        return reply("bill.paid_now", bill=due.name)
    if (said := asked_of_bills(task, facts)) is not None:
        return said
    if due is not None:
        return _due(due, facts)
    if not open_bills(facts):
        return reply("bill.none_open")
    listed = _coming(task, facts)
    return both(reply("bill.unknown", heard=task.bill_heard), listed) if task.bill_heard else listed


def _due(due: Bill, facts: Facts) -> Reply:
    day = day_name(facts, due.due_on)
    if due.minimum is not None:
        return reply("bill.due_minimum", bill=due.name, due=due.due, minimum=due.minimum, date=day)
    return reply("bill.due", bill=due.name, due=due.due, date=day)


def _coming(task: Task, facts: Facts) -> Reply:
    """The bills of the days asked about, else the next ones, and how many more there are."""
    coming, days, most = by_day(facts), task.period, dialogue_rules().bills_listed
    if days is not None:
        within = [b for b in coming if b.due_on <= days.end and (b.due_on >= days.start or days.start <= facts.today)]
        if not within:
            return both(reply("bill.none_then"), _due(replace(coming[0], minimum=None), facts))
        coming = within
    told, more = told_of(tuple(coming), most)
    rows = tuple(reply("part.bill", bill=b.name, due=b.due, day=b.due_on) for b in told)
    return reply("bill.list_more", bills=rows, count=more) if more else reply("bill.list", bills=rows)
