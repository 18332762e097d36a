"""Templates of what is written about runs."""

from jinja2 import Environment, StrictUndefined


def environment() -> Environment:
    """What is filled in is escaped, and an unknown name is an error."""
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
