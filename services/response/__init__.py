"""From a reply's id and values to one short sentence that can be spoken and read."""

from services.response.phrases import BLANK, PhraseBook, outlines, speak, template_params, templates
from services.response.renderer import ResponseRenderer, said_as
from services.response.reply import AgentReply, ReplyState, ReplyStep

__all__ = [
    "BLANK",
    "AgentReply",
    "PhraseBook",
    "ReplyState",
    "ReplyStep",
    "ResponseRenderer",
    "outlines",
    "said_as",
    "speak",
    "template_params",
    "templates",
]
