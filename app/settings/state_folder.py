"""The state folder: what its disk refuses is told as that setting's fault."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.settings.checks import PREFIX
from app.settings.read import Settings
from schemas.errors import ConfigInvalid


@contextmanager
def in_state_folder(settings: Settings) -> Iterator[None]:
    """A block that makes or reads files there. Raises ConfigInvalid, which names the file and what is wrong with it."""
    try:
        yield
    except OSError as error:
        place = error.filename or settings.state_dir
        raise ConfigInvalid(f"{PREFIX}STATE_DIR: {place}: {error.strerror or type(error).__name__}") from error
