"""Settings: what can be set, what it may be, alone and together, and how it is read from the environment."""

from app.settings.checks import PREFIX
from app.settings.fields import BankKind, Environment, SpeechKind
from app.settings.read import Settings, environment_without_ours, names, read_settings

__all__ = [
    "PREFIX",
    "BankKind",
    "Environment",
    "Settings",
    "SpeechKind",
    "environment_without_ours",
    "names",
    "read_settings",
]
