"""What a secret has at the least, wherever one is taken."""

from collections.abc import Iterable
from typing import Final

from schemas.errors import ConfigInvalid

KEY_BYTES: Final = 32


def long_enough(what: str, keys: Iterable[bytes]) -> None:
    """Raises ConfigInvalid where one of `keys` is not."""
    if any(len(key) < KEY_BYTES for key in keys):
        raise ConfigInvalid(f"{what} needs {KEY_BYTES} bytes")
