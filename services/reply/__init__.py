"""From a reply's id and values to one short sentence that can be spoken and read."""

from services.reply.render import Speaker, speak, template_params

__all__ = ["Speaker", "speak", "template_params"]
