"""The head that every event of the service has."""

from pydantic import BaseModel, ConfigDict


class Event(BaseModel):
    """The head of every event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    event_id: str = ""
