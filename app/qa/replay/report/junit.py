"""A comparison as JUnit XML: a test case a turn, failed where it breaks a policy."""

import re
from importlib.resources import files
from typing import Final

from app.qa.replay.comparing.diff import PolicyBreach, RunDiff
from app.qa.replay.report.summary import made_by
from app.qa.replay.report.templating import environment

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(compared: RunDiff, findings: tuple[PolicyBreach, ...]) -> str:
    """The document. Characters that XML can't hold become U+FFFD."""
    xml = environment()
    xml.filters["clean"] = lambda text: _NOT_XML.sub("\ufffd", str(text))
    template = xml.from_string(files(__package__).joinpath("junit.xml.j2").read_text(encoding="utf-8"))
    return template.render(
        turns=compared.turns,
        failed={turn.id for finding in findings for turn in finding.turns},
        counts=compared.counts,
        made=[*made_by(compared.before), *made_by(compared.after)],
        sources=compared.changed_sources,
        scores=[*compared.scores, *compared.slower],
        wrong_scores=[finding for finding in findings if not finding.turns],
    )
