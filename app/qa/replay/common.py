"""What all processes of a replay have in common, made once: they are forked off a process that has imported this."""

import gc
from contextlib import suppress

import app.qa.replay.house  # noqa: F401 - all that a player is composed of
from rules.load import locales
from schemas.errors import TellerlineError
from services.interpretation import warm_up as load_interpretation_rules
from services.payees import warm_up as load_payee_rules
from services.response import PhraseBook

with suppress(TellerlineError):  # told by the process that then composes its player
    load_payee_rules()
    load_interpretation_rules()
    for _locale in locales():
        PhraseBook.for_locale(_locale)
gc.collect()
gc.freeze()  # no collection of a forked process touches what they share
