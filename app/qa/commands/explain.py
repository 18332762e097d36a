"""`tellerline explain TEXT`: what normalization finds in a text, by which rule, from which words, against what."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from schemas.errors import BadInput
from schemas.ids import EN_US, Locale
from schemas.money import EXPONENTS, Money
from schemas.span import DateValue, MoneyValue, Span, SpanKind, SpanValue, TimeValue
from services.normalization import Normalizer, Note
from services.timing import SystemClock


def register(main: typer.Typer) -> None:
    """Add the command."""
    main.command("explain")(explain)


def explain(
    text: Annotated[str, typer.Argument(help="What the caller said.")],
    locale: Annotated[str, typer.Option(help="A locale that has rules, such as ja-JP.")] = EN_US,
    now: Annotated[datetime | None, typer.Option(help="The moment it was said; the present without it.")] = None,
    currency: Annotated[list[str] | None, typer.Option(help="A currency the caller holds; may be repeated.")] = None,
) -> None:
    """Show how a text is normalised."""
    from rich.console import Console

    if strange := sorted(set(currency or ()) - EXPONENTS.keys()):
        raise BadInput(f"{', '.join(strange)[:60]}: no currency, write a code such as USD or JPY")
    normalizer = Normalizer.for_locale(Locale(locale))
    moment = now or SystemClock().now()
    spans = normalizer.normalize(text, now=moment, currencies=tuple(currency or ()))
    console = Console(highlight=False)
    console.print(_marked(text, spans))
    notes = normalizer.notes(text)
    for span in spans:
        console.print(_tree(span, notes))
    if not spans:
        console.print("[dim]nothing found[/dim]")


def _marked(text: str, spans: Sequence[Span]) -> object:
    """The text with its spans underlined."""
    from rich.text import Text

    marked = Text(text)
    for span in spans:
        marked.stylize("bold underline yellow" if span.ambiguity else "bold underline green", span.start, span.end)
    return marked


def _tree(span: Span, notes: Sequence[Note]) -> object:
    from rich.markup import escape
    from rich.tree import Tree

    tree = Tree(f"[bold]{span.kind}[/bold] {escape(say(span.kind, span.value))}  [dim]{span.start}:{span.end}[/dim]")
    tree.add(f"rule [cyan]{span.rule}[/cyan]")
    words = tree.add("from")
    for note in notes:
        if span.start <= note.start and note.end <= span.end:
            words.add(f"{escape(note.surface)}  [dim]{escape(', '.join(note.meanings))}[/dim]")
    if span.ambiguity is not None:
        doubt = tree.add(f"[yellow]ambiguous[/yellow]: {span.ambiguity}")
        for reading in span.readings:
            doubt.add(f"or {escape(say(reading.kind, reading.value))}")
    for reading in span.rejected:
        told = f"{reading.kind} {escape(say(reading.kind, reading.value))} by {reading.rule}"
        tree.add(f"[dim]rejected {told}[/dim]")
    return tree


def say(kind: SpanKind, value: SpanValue) -> str:
    """A value as people write it."""
    match value:
        case MoneyValue(amount_minor=minor, currency=code) if code is not None and code in EXPONENTS:
            return str(Money(minor, code))
        case MoneyValue(amount_minor=minor):
            return f"{minor} minor units of a currency not named"
        case DateValue(start=start, end=end):
            return start.isoformat() if start == end else f"{start} to {end}"
        case TimeValue(start=opens, end=closes):
            return opens if opens == closes else f"{opens} to {closes}"
        case _:
            return f"{value} %" if kind is SpanKind.PERCENT else str(value)
