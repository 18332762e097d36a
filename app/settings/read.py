"""The one place that reads the environment: settings that are right by themselves and hold together."""

import os
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from app.meant import meant
from app.settings import checks, files, together
from app.settings.checks import PREFIX
from app.settings.fields import Environment, SettingFields
from schemas import amiss
from schemas.errors import ConfigInvalid

OTHERS: Final = frozenset({"TELLERLINE_DOCTOR_KEY", "TELLERLINE_TEST_POSTGRES", "TELLERLINE_TOKEN"})
"""Names with our prefix that are no setting of the gateway."""
_WORDS: Final = {"dict_type": "write a JSON object", "tuple_type": "write a JSON list"}


class Settings(SettingFields):
    """What the service runs by: see `read_settings`."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        faults = [*together.faults(self), *files.faults(self.tls_certificate, self.tls_key, self.state_dir)]
        if self.environment is Environment.PRODUCTION:
            faults += together.production_faults(self)
        if faults:
            raise ConfigInvalid("; ".join(faults))
        return self


def read_settings(**given: Any) -> Settings:
    """The settings of the environment; `given` ones go before. Raises ConfigInvalid: one line, with what to write."""
    if wrong := [*_unknown(), *_quoted()]:
        raise ConfigInvalid("; ".join(wrong))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ConfigInvalid("; ".join(_said(fault) for fault in error.errors(include_input=False))) from None
    except SettingsError as error:  # names the field, in quotes; its cause repeats the value
        raise ConfigInvalid(f"{PREFIX}{str(error).split(chr(34))[1].upper()}: write JSON") from None


def environment_without_ours() -> dict[str, str]:
    """What the environment holds that is no setting: for processes that are to know none."""
    ours = {*names(), *OTHERS}
    return {k: v for k, v in os.environ.items() if k not in ours and not k.startswith(PREFIX)}  # noqa: TID251 - this is the place


def names() -> list[str]:
    """The environment variable of every setting."""
    return [str(f.validation_alias or PREFIX + name.upper()) for name, f in Settings.model_fields.items()]


def _unknown() -> list[str]:
    known = names()
    given = {name.upper() for name in (*os.environ, *checks.env_names(Path(".env")))}  # noqa: TID251 - this is the place
    said = []
    for name in sorted(name for name in given if name.startswith(PREFIX) and name not in {*known, *OTHERS}):
        near = meant(name.removeprefix(PREFIX), (one.removeprefix(PREFIX) for one in known))
        whole = next((one for one in known if near and one.removeprefix(PREFIX) == near), None)
        said.append(f"{name} is no setting" + (f": did you mean {whole}?" if whole else ""))
    return said


def _quoted() -> list[str]:
    """A shell takes quotes off; what a container is given with `--env-file` keeps them, and would mean them."""
    free = {PREFIX + name for name in ("DATABASE_PASSWORD", "FINERACT_PASSWORD", "IVR_KEYS", "SPEECH_VOICES")}
    free |= {name for name in names() if name.endswith("_BEFORE")}
    given = [name for name in names() if name not in free and checks.quoted(os.environ.get(name, ""))]  # noqa: TID251 - this is the place
    return [f"{name} is in quotes: write it without them" for name in given]


def _said(fault: ErrorDetails) -> str:
    """One fault in pydantic's words, without the value, which may be secret."""
    field, *inside = fault["loc"] or ("",)
    name = field if str(field).isupper() else f"{PREFIX}{str(field).upper()}"
    place = "".join(f"[{part}]" for part in inside if isinstance(part, int))  # names may be secrets in the wrong place
    return f"{name}{place}: {_WORDS.get(fault['type']) or amiss.fault(fault)}"
