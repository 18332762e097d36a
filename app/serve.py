"""Start-up and the end: compose, listen, drain."""

import os

from app.bootstrap import gateway
from app.logs import configure
from app.main import create_app
from app.server import make_server
from app.settings import Settings
from services.guard.redact import redactor
from services.ports import Recognizer


async def serve(recognizer: Recognizer | None = None) -> None:
    """Serve until told to stop, with the recogniser that the settings name unless one is given.

    One thread a decode: more make short windows slower.
    """
    settings = Settings()
    configure(settings.log_level, redactor())
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # noqa: TID251 - read by the numeric libraries when they load
    async with gateway(settings, recognizer=recognizer) as composed:
        await make_server(create_app(composed), settings, composed.admission).serve()
