"""An oracle for callers whose sentences nobody knows beforehand: each is noted in a folder before it is spoken."""

from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from deploy.bench._calls.corpus import Part, PlayedUtterance
from deploy.bench._calls.oracle import Oracle, stamps
from schemas.audio import Samples
from schemas.ids import EN_US, Locale
from schemas.transcript import Decode, Transcript, Wordings

_PARTS = TypeAdapter(tuple[Part, ...])


def note(folder: Path, said: PlayedUtterance) -> None:
    """Tell the oracle that reads `folder` what is about to be said."""
    (folder / f"{said.key}.json").write_bytes(_PARTS.dump_json(said.parts))


class NotedOracle(Oracle):
    """The `Recognizer` port: what a folder's notes say."""

    def __init__(self, folder: Path) -> None:
        super().__init__(())
        self._folder = folder
        self._read: set[int] = set()

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        """As its parent's; a sentence not met before is looked up first."""
        for key in {key for key, _ in stamps(samples)} - self._read:
            parts = _PARTS.validate_json((self._folder / f"{key}.json").read_bytes())
            silence = np.zeros(0, dtype=np.float32)
            self.know(PlayedUtterance(" ".join(part.text for part in parts), EN_US, "", "", silence, parts), key)
            self._read.add(key)
        return await super().transcribe(samples, locale, decode, wordings=wordings)
