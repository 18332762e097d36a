"""What a protocol behind the door has for a transport."""

import asyncio
from typing import Any, Protocol


class HoldingDoor(Protocol):
    """Whose business reading is."""

    inner: asyncio.Protocol

    def hold(self) -> None:
        """What is behind has enough for now."""
        ...

    def release(self) -> None:
        """It has not."""
        ...


class HeldTransport:
    """The transport as a protocol behind the door sees it: reading is the door's business."""

    def __init__(self, transport: asyncio.Transport, door: HoldingDoor) -> None:
        self._transport = transport
        self._door = door

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        """Nothing more for now."""
        self._door.hold()

    def resume_reading(self) -> None:
        """Go on."""
        self._door.release()

    def set_protocol(self, protocol: asyncio.Protocol) -> None:
        """The connection was upgraded."""
        self._door.inner = protocol
