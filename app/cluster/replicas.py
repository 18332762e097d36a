"""What replicas are asked. It changes nothing, so that one that dies takes nothing along: another one does the same."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

from schemas.errors import Busy, TellerlineError

WARM_S: Final = 60.0
"""Longest wait for a replica that is still loading its model."""
RETRY_AFTER_S: Final = 1.0
_AGAIN_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Replicas:
    """The replicas of one deployment; `unavailable` is raised where none of them answers."""

    handle: Any
    name: str
    unavailable: type[TellerlineError]

    async def asked(self, what: str, *given: object, within_s: float, **more: object) -> Any:
        """What whichever has the shorter line answers. Raises Busy, `unavailable`, and what the replica raised."""
        try:
            async with asyncio.timeout(within_s):
                return await self._answer(getattr(self.handle, what), *given, **more)
        except TimeoutError:
            raise self.unavailable(f"no {self.name} answered in time") from None

    async def warm(self) -> None:
        """Wait until one replica answers: it is warm before it is asked for anything. Raises `unavailable`."""
        try:
            async with asyncio.timeout(WARM_S):
                await self.handle.ready.remote()
        except (TimeoutError, RayActorError, RayTaskError) as error:
            raise self.unavailable(f"no {self.name} is ready ({type(error).__name__})") from None

    async def _answer(self, what: Any, *given: object, **more: object) -> Any:
        while True:
            answer = what.remote(*given, **more)
            try:
                told = await answer
            except asyncio.CancelledError:
                answer.cancel()
                raise
            except (RayActorError, DeploymentUnavailableError):
                await asyncio.sleep(_AGAIN_S)
            except BackPressureError:
                raise Busy(f"the {self.name}s' line is full", retry_after_s=RETRY_AFTER_S) from None
            except RayTaskError as error:
                raise self._meant(error) from None
            else:
                return told

    def _meant(self, error: Any) -> TellerlineError:
        """What a replica raised, as if raised here; what it did not mean to raise is its fault alone."""
        if isinstance(error.cause, TellerlineError):
            return error.cause
        return self.unavailable(f"a {self.name} failed ({type(error.cause).__name__})")
