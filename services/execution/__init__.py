"""What is done for a caller: actions carried out to their end, and what became of them told until it was heard."""

from services.execution.deeds import MOST_STEPS, Deeds, acts
from services.execution.executor import ActionExecutor, Banking
from services.execution.news import News
from services.execution.tidings import Tidings

__all__ = ["MOST_STEPS", "ActionExecutor", "Banking", "Deeds", "News", "Tidings", "acts"]
