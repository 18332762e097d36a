"""A comparison as JUnit XML: a test case a turn, failed where it breaks a policy."""

import re
from importlib.resources import files
from typing import Final

from jinja2 import Environment, StrictUndefined

from app.qa.replay.diff import RunDiff, TurnDiff

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(compared: RunDiff, broken: tuple[TurnDiff, ...]) -> str:
    """The document. Characters that XML can't hold become U+FFFD."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["clean"] = lambda text: _NOT_XML.sub("\ufffd", str(text))
    template = environment.from_string(files(__package__).joinpath("junit.xml.j2").read_text(encoding="utf-8"))
    failed = {turn.id for turn in broken}
    return template.render(turns=compared.turns, failed=failed, counts=compared.counts)
