"""Small pieces of SVG. Colours are classes, so that charts follow the page's light or dark scheme."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

SERIES: Final = 8
"""How many series colours the style sheet has."""


def element(name: str, /, *inside: str | Markup, **attributes: str | float) -> Markup:
    """An element: text inside and attribute values are escaped; `class_` is class, `_` becomes `-`."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _number(value))
        for key, value in attributes.items()
    )
    body = Markup("").join(escape(part) for part in inside)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, body)  # noqa: S704 - names are literals of ours


def _number(value: str | float) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def text(x: float, y: float, words: str, class_: str = "", anchor: str = "start") -> Markup:
    """Words at a place."""
    return element("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str, title: str = "", **more: str | float) -> Markup:
    """A rectangle with a tooltip."""
    tip = (element("title", title),) if title else ()
    return element("rect", *tip, x=x, y=y, width=max(width, 0.5), height=height, class_=class_, **more)


def path(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A polyline."""
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_=class_)


def drawing(width: float, height: float, label: str, *inside: Markup) -> Markup:
    """A whole picture that scales with the page; `label` is read aloud in its stead."""
    return element("svg", *inside, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label)
