"""What a recording's folder holds, and how."""

import io
import shutil
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import av
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.recordings.sealed import SealedFolder
from schemas.audio import SAMPLE_RATE, Samples
from schemas.banking import TransferOrder
from schemas.transcript import Source
from services.record.audit_keys import AuditKeys

HEAD_FILE: Final = "recording.json"
GONE: Final = ".gone"
"""How the name of a recording ends that is to be removed, and could not be yet."""
_FULL: Final = np.iinfo(np.int16)


class RecordingHead(BaseModel):
    """What the folder is. `consent` and `redacted` are always true: the format has no place for anything else.

    `subject` is the customer's pseudonym and `seed` (hex) this recording's part of the key that seals it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["tellerline.recording@2"] = "tellerline.recording@2"
    call: str
    locale: str
    started_at: datetime
    subject: str
    seed: str
    consent: Literal[True] = True
    redacted: Literal[True] = True

    def sealed(self, folder: Path, keys: AuditKeys) -> SealedFolder:
        """The recording's files, in the folder where it is."""
        return SealedFolder(folder, keys, self.subject, bytes.fromhex(self.seed))


class RecordedSlot(BaseModel):
    """A slot: its value as the text contract writes it, and the caller's words for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: JsonValue
    words: str = ""


class RecordedMove(BaseModel):
    """Money that was read back or booked, in minor units. `source` is the account it leaves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount_minor: int
    currency: str
    payee: str | None = None
    to_account: str | None = None
    source: str | None = None

    @classmethod
    def of(cls, order: TransferOrder) -> "RecordedMove":
        """What an order would move."""
        return cls(
            amount_minor=order.amount.minor,
            currency=order.amount.currency,
            payee=order.payee_id,
            to_account=order.to_account,
            source=order.source,
        )


class RecordedTurn(BaseModel):
    """One turn as it was answered. `audio`, `text`, `slots`, `payee` and money are empty where `withheld`.

    `decision` is what the words led to, `outcome` what the turn ended in where that is another. `proposal` was read
    back in this turn, `money` was booked in it. `locale` is empty where it is the recording's. A turn that was
    `withdrawn` came to nothing: its words come again, with those that the caller went on with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: int
    at: datetime
    source: Source
    audio: str | None = None
    text: str = ""
    withheld: bool = False
    withdrawn: bool = False
    locale: str = ""
    intent: str | None = None
    route: str | None = None
    rule: str | None = None
    confidence: float = 0.0
    slots: dict[str, RecordedSlot] = Field(default_factory=dict)
    payee: str | None = None
    decision: str | None = None
    outcome: str | None = None
    proposal: RecordedMove | None = None
    money: tuple[RecordedMove, ...] = ()
    reply: str | None = None
    error: str | None = None


def flac(samples: Samples) -> bytes:
    """Mono samples at 16 kHz as a FLAC file; what was PCM16 at this rate is what it was, to the bit."""
    file = io.BytesIO()
    with av.open(file, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono")
        pcm = np.clip(np.rint(samples * -float(_FULL.min)), _FULL.min, _FULL.max).astype(np.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE
        container.mux([*stream.encode(frame), *stream.encode(None)])
    return file.getvalue()


def remove(call: Path) -> None:
    """Remove a recording, and what is left of it where that failed before. Raises OSError: try again then."""
    gone = call if call.name.endswith(GONE) else call.with_name(f".{call.name}{GONE}")
    with suppress(FileNotFoundError):
        shutil.rmtree(gone)
    with suppress(FileNotFoundError):
        # Out of the way at once: a call that goes on writes into it no more, and knows by that.
        shutil.rmtree(call.rename(gone))
