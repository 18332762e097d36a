"""Start-up and the end: compose, listen, drain."""

from app.bootstrap import gateway
from app.logs import configure
from app.main import create_app
from app.server import make_server
from app.settings import Settings
from services.guard.redact import redactor
from services.ports import Recognizer


async def serve(recognizer: Recognizer | None = None) -> None:
    """Serve until told to stop, with the recogniser that the settings name unless one is given."""
    settings = Settings()
    configure(settings.log_level, redactor())
    async with gateway(settings, recognizer=recognizer) as composed:
        await make_server(create_app(composed), settings, composed.admission).serve()
