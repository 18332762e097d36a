"""Subcommands of `tellerline`, one module each, with a `register(main)` that adds it to the Typer application."""
