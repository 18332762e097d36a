"""Span values as JSON, as the text contract writes them."""

from pydantic import JsonValue

from schemas.span import DateValue, MoneyValue, SpanValue, TimeValue


def jsonable(value: SpanValue) -> JsonValue:
    """Money {"amount_minor", "currency"} · date and time a string, or {"start", "end"} · the others as they are."""
    match value:
        case MoneyValue():
            return {"amount_minor": value.amount_minor, "currency": value.currency}
        case DateValue():
            start, end = value.start.isoformat(), value.end.isoformat()
            return start if start == end else {"start": start, "end": end}
        case TimeValue():
            return value.start if value.start == value.end else {"start": value.start, "end": value.end}
        case _:
            return value
