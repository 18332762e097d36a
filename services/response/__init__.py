"""From a reply's id and values to one short sentence that can be spoken and read."""

from services.response.phrases import PhraseBook, speak, template_params

__all__ = ["PhraseBook", "speak", "template_params"]
