"""What Ray Serve keeps alive: recognisers and voices as their lines ask for, gateways, each on a port of its own."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from ray import serve
from ray.serve._private import replica

from app.bootstrap import Gateway
from app.cluster.engine import HandleEngine
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
from services.speech.engine import Sound
from services.speech.kokoro import KokoroEngine, KokoroSettings

RECOGNIZER: Final = "recognizer"
GATEWAY: Final = "gateway"
VOICE: Final = "voice"
RECOGNIZER_CPUS: Final = 1.0
VOICE_CPUS: Final = 1.0
GATEWAY_CPUS: Final = 0.5
CARD_SHARE: Final = 0.25
"""Of a GPU that a recogniser takes, where it has one."""
QUEUED: Final = 64
"""What waits in one gateway for a place at a recogniser, or a voice; what comes then is refused."""
MARGIN_S: Final = 5.0
ONE_LOOP: Final = {"env_vars": {"RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0"}}
"""Decoders have threads of their own: the loop that Ray asks in is free."""
QUIET: Final = {"log_level": "WARNING", "enable_access_log": False}


def _no_port(_server: object, _address: str) -> int:
    return 0


# Each replica of 2.60 would listen at every address for pickled calls, which is to run what a stranger sends. Ours are
# called by way of the cluster's own ports alone, which ask for its token.
assert hasattr(replica, "add_port_to_grpc_server"), "another Ray than the one that is pinned: look at its ports"
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
    ) -> tuple[float, ...] | None:
        """How well the sound fits each of `others`."""
        return await self._made.odds(samples, heard, others, decode=decode)

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """As the port says."""
        return await self._made.onward(samples, heard)

    async def ready(self) -> bool:
        """That there is a replica, which is warm."""
        return True


class VoiceReplica:
    """One embedded voice."""

    def __init__(self, workers: int) -> None:
        """Load the model. Raises SpeechUnavailable."""
        self._made = KokoroEngine(KokoroSettings(workers=workers))

    async def sound(self, words: str, locale: Locale, voice: str, *, any_time: bool) -> list[Sound]:
        """A clause, as the port says; cancelled, it stops."""
        return [sound async for sound in self._made.sound(words, locale, voice, any_time=any_time)]

    async def ready(self) -> bool:
        """That there is a replica, which has its model."""
        return True


def handle_of(name: str) -> Any:
    """Serve's handle of recognisers or voices, to be used in one loop, which has to outlive it."""
    handle = serve.get_deployment_handle(name, app_name=name)
    handle._init(_run_router_in_separate_loop=False)  # noqa: SLF001 - what is asked would change threads twice
    return handle


class GatewayReplica:
    """One gateway, whose callers come to its own port: no frame of a call passes through Ray."""

    def __init__(self, further: Iterable[Callable[[Gateway], APIRouter]], *, voices: bool) -> None:
        """Begin to serve. Settings are the environment's of the machine that it runs on, so that no secret travels."""
        settings = read_settings()
        rank = serve.get_replica_context().rank.local_rank
        settings = settings.model_copy(update={"port": settings.port + rank})
        recognizer = HandleRecognizer(handle_of(RECOGNIZER))
        engine = HandleEngine(handle_of(VOICE), settings.speech_voices) if voices else None
        self._stop = asyncio.Event()
        self._serving = asyncio.get_running_loop().create_task(
            serve_calls(recognizer, further=further, engine=engine, settings=settings, stop=self._stop)
        )

    async def check_health(self) -> None:
        """Asked by Ray, which starts another gateway in this one's place when it raises. Raises NotReady."""
        if self._serving.done():
            why = "cancelled" if self._serving.cancelled() else self._serving.exception()
            raise NotReady(f"the gateway ended: {why}")

    async def __del__(self) -> None:
        """Called by Ray before the process ends: newcomers are refused, and admitted calls may finish."""
        self._stop.set()
        await self._serving


class _Scaled(BaseModel):
    """How many replicas, and where: arguments of an application in a manifest, too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    least: int = Field(default=1, ge=1)
    """Where nobody calls."""
    most: int = Field(default=1, ge=1)
    """Where many do."""
    node: str = ""
    """A resource of the nodes that they are for, one of it each; anywhere where none is named."""

    @property
    def upmost(self) -> int:
        """How many there may be at once."""
        return max(self.least, self.most)


class Recognizers(_Scaled):
    """How many recognisers, and of what kind."""

    asr_model: str = BUNDLED
    asr_workers: int = Field(default=2, ge=1, le=64)
    asr_device: Literal["cpu", "cuda"] = "cpu"


class Voices(_Scaled):
    """How many embedded voices, and how many clauses each says at once."""

    workers: int = Field(default=1, ge=1, le=64)


class Gateways(BaseModel):
    """How many gateways, what routes they have beside their own, and how long admitted calls may go on at the end."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    count: int = Field(default=1, ge=1)
    drain_seconds: float = Field(default=30.0, ge=0, le=3_600)
    apart: bool = False
    """Never two on a machine: each has the port that its machine's environment names."""
    node: str = ""
    """As of recognisers, which would take the room of gateways where both may be."""
    voices: bool = False
    """Whether voices of their own say the replies; else the gateway does, as its settings name."""
    further: tuple[Callable[[Gateway], APIRouter], ...] = ()


def _on(node: str) -> dict[str, dict[str, float]]:
    return {"resources": {node: 1.0}} if node else {}


def recognizers(wanted: Recognizers) -> Any:
    """The application of recognisers: one more where lines have outgrown their threads, one less where none has."""
    card = {"num_gpus": CARD_SHARE} if wanted.asr_device == "cuda" else {}
    most = wanted.asr_workers * (1 + WAITING_PER_WORKER)
    made = _scaled(RecognizerReplica, RECOGNIZER, wanted, wanted.asr_workers, most, num_cpus=RECOGNIZER_CPUS, **card)
    return made.bind(wanted.asr_model, wanted.asr_workers, wanted.asr_device)


def voices(wanted: Voices) -> Any:
    """The application of voices, scaled as recognisers are."""
    settings = KokoroSettings(workers=wanted.workers)
    most = settings.workers + settings.waiting
    return _scaled(VoiceReplica, VOICE, wanted, wanted.workers, most, num_cpus=VOICE_CPUS).bind(wanted.workers)


def _scaled(replica_type: type, name: str, wanted: _Scaled, at_once: int, most: int, **options: float) -> Any:
    """Replicas that do so much `at_once`, and take so much at `most`."""
    return serve.deployment(
        replica_type,
        name=name,
        autoscaling_config={
            "min_replicas": wanted.least,
            "max_replicas": wanted.upmost,
            "target_ongoing_requests": at_once,
            "upscale_delay_s": 3.0,
            "downscale_delay_s": 120.0,
            "look_back_period_s": 12.0,
        },
        ray_actor_options={"runtime_env": ONE_LOOP, **_on(wanted.node), **options},
        logging_config=QUIET,
        max_ongoing_requests=most,
        max_queued_requests=QUEUED,
        health_check_period_s=2.0,
        health_check_timeout_s=10.0,
    )


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
    return deployment.bind(wanted.further, voices=wanted.voices)
