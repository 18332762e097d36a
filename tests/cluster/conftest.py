"""Ray is imported once, before its own warnings are errors; tests skip themselves where it is not installed."""

import warnings
from contextlib import suppress

with warnings.catch_warnings(), suppress(ModuleNotFoundError):
    warnings.simplefilter("ignore")  # Ray's own, of pydantic, as it is imported
    import ray.serve  # noqa: F401
