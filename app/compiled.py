"""All rules, compiled before anybody waits for them: `python -m app.compiled` has them kept where it may write.

An image does so while it is built, with what a recogniser unpacks; what runs it can't.
"""

from rules.load import locales, ruleset_hash
from services.asr import load as load_recognizer
from services.audio.endpointing import endpointing, timing
from services.interpretation import warm_up as load_interpretation_rules
from services.payees import warm_up as load_payee_rules
from services.response import PhraseBook


def compile_rules() -> None:
    """Those of every locale. Raises RulesInvalid."""
    load_payee_rules()
    load_interpretation_rules()
    for locale in locales():
        PhraseBook.for_locale(locale)
        endpointing(locale)
    timing()
    ruleset_hash()


if __name__ == "__main__":
    compile_rules()
    load_recognizer()
