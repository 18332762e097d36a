"""`tellerline serve --on ray`: on the cluster that RAY_ADDRESS names, or on one of this machine's own."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ray import serve

from app.cluster.deployments import (
    GATEWAY,
    GATEWAY_CPUS,
    QUIET,
    RECOGNIZER,
    RECOGNIZER_CPUS,
    VOICE,
    VOICE_CPUS,
    Gateways,
    Recognizers,
    Voices,
    gateways,
    recognizers,
    voices,
)
from app.cluster.own import named, ray_here
from app.composition.speech import installed
from app.serve import free
from app.settings import Settings, SpeechKind, read_settings
from schemas.errors import ConfigInvalid, NotReady


def run(ingress: Gateways, hearing: Recognizers, speaking: Voices | None) -> None:
    """Serve until told to stop, what the settings name. Raises ConfigInvalid, NotReady."""
    settings = read_settings()
    told = {"drain_seconds": settings.drain_seconds, "apart": named(), "voices": speaking is not None}
    ingress = ingress.model_copy(update=told)
    chosen = {name: getattr(settings, name) for name in ("asr_model", "asr_workers", "asr_device")}
    hearing = hearing.model_copy(update=chosen)
    _check(settings, ingress)
    ended = threading.Event()
    aside = 0.0 if speaking is None else speaking.upmost * VOICE_CPUS
    with cluster(ingress.count * GATEWAY_CPUS + hearing.upmost * RECOGNIZER_CPUS + aside):
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
        deploy(RECOGNIZER, recognizers(hearing))
        if speaking is not None:
            deploy(VOICE, voices(speaking.model_copy(update={"workers": settings.speech_workers})))
        deploy(GATEWAY, gateways(ingress))
        while not ended.wait(1.0):
            pass
        serve.delete(GATEWAY)  # before the others go, so that admitted calls are heard, and told, to their end


@contextmanager
def cluster(cpus: float) -> Iterator[None]:
    """Ray Serve. Its own proxy has nothing to do here, and is not started."""
    with ray_here(cpus):
        try:
            serve.start(proxy_location="Disabled", logging_config=QUIET)
            yield
        finally:
            serve.shutdown()


def deploy(name: str, application: object) -> None:
    """Run an application until `cluster` is left. Raises NotReady."""
    try:
        serve.run(application, name=name, route_prefix=None)
    except RuntimeError as error:
        raise NotReady(f"Ray could not deploy the {name}: {error}") from error


def _check(settings: Settings, ingress: Gateways) -> None:
    """Before anything is started. Raises ConfigInvalid."""
    count = ingress.count
    if ingress.voices and settings.speech not in {SpeechKind.AUTO, SpeechKind.EMBEDDED}:
        raise ConfigInvalid(f"--voices are embedded ones: leave TELLERLINE_SPEECH={settings.speech} away, or --voices")
    if ingress.voices and not installed():
        raise ConfigInvalid("there is no embedded voice: `make speech BIN=.venv-ray/bin` brings one")
    if count > 1 and not settings.database_url:
        raise ConfigInvalid("several gateways are one service by their database: write TELLERLINE_DATABASE_URL")
    if count > 1 and settings.audiosocket:
        raise ConfigInvalid("TELLERLINE_AUDIOSOCKET is one place: only one gateway may listen there")
    for number in range(0 if named() else count):  # elsewhere, a node's own environment says where it listens
        free("TELLERLINE_HOST, TELLERLINE_PORT", settings.host, settings.port + number)
