"""The `tellerline` command. Each subcommand lives in a module of its own and imports what is heavy when it runs."""

import importlib
import pkgutil

import typer

import app.qa.bench
import app.qa.commands

main = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
bench = typer.Typer(no_args_is_help=True, help="Measure what we claim.")
main.add_typer(bench, name="bench")


def _each(package: str, path: list[str]) -> list[str]:
    return [f"{package}.{found.name}" for found in pkgutil.iter_modules(path) if not found.name.startswith("_")]


for _name in _each("app.qa.bench", list(app.qa.bench.__path__)):
    bench.command(_name.rpartition(".")[2].replace("_", "-"))(importlib.import_module(_name).bench)
for _name in _each("app.qa.commands", list(app.qa.commands.__path__)):
    importlib.import_module(_name).register(main)

if __name__ == "__main__":
    main()
