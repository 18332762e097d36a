"""Where a model is served."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """An OpenAI-compatible server, and the model asked of it. `tenant` separates its prefix cache between banks."""

    url: str
    model: str
    key: str = ""
    tenant: str = "tellerline"
