"""The head of every model of something that another project's client wrote."""

from pydantic import BaseModel, ConfigDict


class Lenient(BaseModel):
    """What is unknown is let through unread."""

    model_config = ConfigDict(extra="ignore", frozen=True)
