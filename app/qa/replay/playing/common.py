"""What all processes of a replay have in common, made once: they are forked off a process that has imported this."""

import gc
from contextlib import suppress

import app.qa.replay.playing.house  # noqa: F401 - all that a player is composed of
from app.compiled import compile_rules
from schemas.errors import TellerlineError

with suppress(TellerlineError):  # told by the process that then composes its player
    compile_rules()
gc.collect()
gc.freeze()  # no collection of a forked process touches what they share
