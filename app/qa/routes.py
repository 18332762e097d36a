"""All routes of QA, for whoever serves them."""

from typing import Final

from app.qa import replays
from app.qa.desk import routes as desk

ROUTES: Final = (replays.routes, desk.routes)
