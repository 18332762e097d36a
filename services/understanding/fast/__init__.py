"""The deterministic path: templates over typed tokens. Pure: no clock, no network, no randomness."""

from services.understanding.fast.understander import Understander

__all__ = ["Understander"]
