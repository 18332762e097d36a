"""Choices of what was offered that are no number."""

from enum import IntEnum


class Pick(IntEnum):
    """A choice that is not the n-th of what was offered, as templates give it too."""

    NONE = 0
    LAST = -1
    EVERY = -2  # all of it, or with nothing offered all that there are
    PAID_LAST = -3  # who of those was paid last
