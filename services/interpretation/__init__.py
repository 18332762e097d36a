"""From a transcript to its interpretation: normalise → payees → understand, ahead of the turn's end where it can be."""

from services.interpretation.interpreter import Interpreter
from services.interpretation.stages import InterpretationContext, interpret, warm_up

__all__ = ["InterpretationContext", "Interpreter", "interpret", "warm_up"]
