"""What the calls came to, by class: transfer, balance, and change of mind."""

from collections.abc import Iterable
from typing import Final

from app.qa.figures import Figure
from deploy.bench._callers.outcome import CODE
from deploy.bench._callers.play import PlayedTask
from deploy.reporting import percentile

NOT_COUNTED: Final = frozenset({"answers_offer", "no_intent_words", "misspelt", "own_or_other"})
"""Marks of what answers other talk, lacks the words of its intent, or may be meant otherwise."""
FOLLOW_UP: Final = "follow_up"
_Z: Final = 1.96


def class_of(played: PlayedTask) -> str:
    """The class in which a task counts; "" in none."""
    task = played.outcome.task
    marks = set(task.marks)
    if marks & NOT_COUNTED:
        return "uncounted"
    if FOLLOW_UP in marks:
        return "follow_up"
    return "change" if played.change or task.changed else task.task


def figures(played: Iterable[PlayedTask]) -> dict[str, Figure]:
    """The figures of every class."""
    classes: dict[str, list[PlayedTask]] = {}
    for one in played:
        classes.setdefault(class_of(one), []).append(one)
    shown: dict[str, Figure] = {}
    for name in ("transfer", "balance", "change", "follow_up", "uncounted"):
        if name in classes:
            shown |= {f"{name}_{key}": value for key, value in _of(classes[name]).items()}
    return shown


def _of(ones: list[PlayedTask]) -> dict[str, Figure]:
    outcomes = [one.outcome for one in ones]
    count = len(outcomes)
    success = sum(o.success for o in outcomes)
    low, high = _interval(success, count)
    turns = [float(sum(text != CODE for text, _ in o.said)) for o in outcomes if o.success]
    backs = sum(o.read_backs for o in outcomes)
    return {
        "count": count,
        "success_percent": _percent(success, count),
        "success_from_percent": low,
        "success_to_percent": high,
        "without_wording_anew_percent": _percent(sum(o.success and not o.reworded for o in outcomes), count),
        "understood_at_once_percent": _percent(sum(o.at_once for o in outcomes), count),
        "no_sentence_too_many_percent": _percent(sum(o.spare for o in outcomes), count),
        "turns_p50": percentile(turns, 50),
        "turns_p90": percentile(turns, 90),
        "read_backs": backs,
        "wrong_read_backs": sum(o.wrong_read_backs for o in outcomes),
        "old_order_again": sum(o.old_order_again for o in outcomes),
        "wrong_money": sum(o.wrong_money for o in outcomes),
        "double_money": sum(max(0, o.booked - 1) for o in outcomes),
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 1)


def _interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, in percent."""
    if whole == 0:
        return 0.0, 100.0
    share, z2 = part / whole, _Z**2
    middle = share + z2 / (2 * whole)
    reach = _Z * float((share * (1 - share) / whole + z2 / (4 * whole**2)) ** 0.5)
    scale = 1 + z2 / whole
    return round(100 * max(0.0, middle - reach) / scale, 1), round(100 * min(scale, middle + reach) / scale, 1)
