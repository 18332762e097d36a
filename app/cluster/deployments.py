"""What Ray Serve keeps alive: recognisers, as many as their lines ask for, and gateways, each on a port of its own."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from ray import serve
from ray.serve._private import replica

from app.bootstrap import Gateway
from app.cluster.recognizer import HandleRecognizer
from app.serve import serve as serve_calls
from app.server import GOODBYE_S
from app.settings import read_settings
from schemas.audio import Samples
from schemas.errors import NotReady
from schemas.ids import Locale
from schemas.transcript import Decode, Onward, Transcript
from services.asr import load
from services.asr.load import BUNDLED, WAITING_PER_WORKER

RECOGNIZER: Final = "recognizer"
GATEWAY: Final = "gateway"
RECOGNIZER_CPUS: Final = 1.0
GATEWAY_CPUS: Final = 0.5
CARD_SHARE: Final = 0.25
"""Of a GPU that a recogniser takes, where it has one."""
QUEUED: Final = 64
"""Decodes that wait in one gateway for a place at a recogniser; what comes then is refused."""
MARGIN_S: Final = 5.0
ONE_LOOP: Final = {"env_vars": {"RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0"}}
"""Decoders have threads of their own: the loop that Ray asks in is free."""
QUIET: Final = {"log_level": "WARNING", "enable_access_log": False}


def _no_port(_server: object, _address: str) -> int:
    return 0


# Each replica of 2.60 would listen at every address for pickled calls, which is to run what a stranger sends. Ours are
# called by way of the cluster's own ports alone, which ask for its token.
replica.add_port_to_grpc_server = _no_port


class RecognizerReplica:
    """One recogniser. Its own line knows which decode is more urgent, so that it is the longer one of the two."""

    def __init__(self, model: str, workers: int, device: str) -> None:
        """Load the model and warm it up. Raises RecognizerUnavailable."""
        self._made = load(model, workers=workers, device=device)
        with ThreadPoolExecutor(1) as aside:  # a loop runs here already
            aside.submit(asyncio.run, self._made.warm_up()).result()

    async def transcribe(self, samples: Samples, locale: Locale, decode: Decode) -> Transcript:
        """As the port says."""
        return await self._made.transcribe(samples, locale, decode)

    async def odds(
        self, samples: Samples, heard: Transcript, others: Sequence[str], *, decode: Decode
    ) -> tuple[float, ...]:
        """How well the sound fits each of `others`."""
        return await self._made.odds(samples, heard, others, decode=decode)

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """As the port says."""
        return await self._made.onward(samples, heard)

    async def ready(self) -> bool:
        """That there is a replica, which is warm."""
        return True


def recognizer_handle() -> Any:
    """Serve's handle of the recognisers, to be used in one loop, which has to outlive it."""
    handle = serve.get_deployment_handle(RECOGNIZER, app_name=RECOGNIZER)
    handle._init(_run_router_in_separate_loop=False)  # noqa: SLF001 - a decode would change threads twice
    return handle


class GatewayReplica:
    """One gateway, whose callers come to its own port: no frame of a call passes through Ray."""

    def __init__(self, further: Iterable[Callable[[Gateway], APIRouter]]) -> None:
        """Begin to serve. Settings are the environment's of the machine that it runs on, so that no secret travels."""
        settings = read_settings()
        rank = serve.get_replica_context().rank.local_rank
        settings = settings.model_copy(update={"port": settings.port + rank})
        recognizer = HandleRecognizer(recognizer_handle())
        self._stop = asyncio.Event()
        self._serving = asyncio.get_running_loop().create_task(
            serve_calls(recognizer, further=further, settings=settings, stop=self._stop)
        )

    async def check_health(self) -> None:
        """Asked by Ray, which starts another gateway in this one's place when it raises. Raises NotReady."""
        if self._serving.done():
            raise NotReady(f"the gateway ended: {self._serving.exception()}")

    async def __del__(self) -> None:
        """Called by Ray before the process ends: newcomers are refused, and admitted calls may finish."""
        self._stop.set()
        await self._serving


class Recognizers(BaseModel):
    """How many recognisers, and of what kind: the arguments of their application in a manifest, too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asr_model: str = BUNDLED
    asr_workers: int = Field(default=2, ge=1, le=64)
    asr_device: Literal["cpu", "cuda"] = "cpu"
    least: int = Field(default=1, ge=1)
    """Where nobody calls."""
    most: int = Field(default=1, ge=1)
    """Where many do."""
    node: str = ""
    """A resource of the nodes that they are for, one of it each; anywhere where none is named."""


class Gateways(BaseModel):
    """How many gateways, what routes they have beside their own, and how long admitted calls may go on at the end."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    count: int = Field(default=1, ge=1)
    drain_seconds: float = Field(default=30.0, ge=0, le=3_600)
    apart: bool = False
    """Never two on a machine: each has the port that its machine's environment names."""
    node: str = ""
    """As of recognisers, which would take the room of gateways where both may be."""
    further: tuple[Callable[[Gateway], APIRouter], ...] = ()


def _on(node: str) -> dict[str, dict[str, float]]:
    return {"resources": {node: 1.0}} if node else {}


def recognizers(wanted: Recognizers) -> Any:
    """The application of recognisers: one more where lines have outgrown their threads, one less where none has."""
    card = {"num_gpus": CARD_SHARE} if wanted.asr_device == "cuda" else {}
    deployment = serve.deployment(
        RecognizerReplica,
        name=RECOGNIZER,
        autoscaling_config={
            "min_replicas": wanted.least,
            "max_replicas": max(wanted.least, wanted.most),
            "target_ongoing_requests": wanted.asr_workers,
            "upscale_delay_s": 3.0,
            "downscale_delay_s": 120.0,
            "look_back_period_s": 12.0,
        },
        ray_actor_options={"num_cpus": RECOGNIZER_CPUS, "runtime_env": ONE_LOOP, **_on(wanted.node), **card},
        logging_config=QUIET,
        max_ongoing_requests=wanted.asr_workers * (1 + WAITING_PER_WORKER),
        max_queued_requests=QUEUED,
        health_check_period_s=2.0,
        health_check_timeout_s=10.0,
    )
    return deployment.bind(wanted.asr_model, wanted.asr_workers, wanted.asr_device)


def gateways(wanted: Gateways) -> Any:
    """The application of gateways, at ports that follow TELLERLINE_PORT where several are on one machine."""
    deployment = serve.deployment(
        GatewayReplica,
        name=GATEWAY,
        num_replicas=wanted.count,
        max_replicas_per_node=1 if wanted.apart else None,
        ray_actor_options={"num_cpus": GATEWAY_CPUS, **_on(wanted.node)},
        logging_config=QUIET,
        graceful_shutdown_timeout_s=wanted.drain_seconds + GOODBYE_S + MARGIN_S,
        graceful_shutdown_wait_loop_s=0.1,
        health_check_period_s=2.0,
    )
    return deployment.bind(wanted.further)
