"""The walls of the house that import-linter can't see: what pure rooms may touch, who enters where, what names mean."""

from collections import defaultdict

import pytest

from tests.harness.tree import ROOT, named, python_files

IMPURE = {
    "asyncio", "anyio", "threading", "multiprocessing", "socket", "subprocess", "time", "random", "secrets", "uuid",
    "os", "httpx", "openai", "fastapi", "starlette", "sqlalchemy", "websockets", "uvicorn",
}  # fmt: skip
PURE_ROOMS = (
    "services/dialogue",
    "services/normalization",
    "services/payees",
    *(f"services/understanding/{room}" for room in ("fast", "correction", "clarification", "offers", "nbest")),
    "services/interpretation",
    "schemas",
    "rules",
)
ONLY_IN = {
    "fastapi": ("app/",),
    "starlette": ("app/",),
    "uvicorn": ("app/",),
    "openai": ("services/understanding/extraction/extract", "services/answering/"),
    "sqlalchemy": (
        "services/store/",
        "services/banking/",
        "services/record/",
        "services/guard/expected_calls",
        "services/guard/nonces",
        "services/guard/shared_calls",
        "services/guard/shared_rates",
        "app/",
        "deploy/",
    ),
}


@pytest.mark.parametrize("path", [str(p.relative_to(ROOT)) for p in python_files(*PURE_ROOMS)])
def test_pure_rooms_touch_nothing_outside(path: str) -> None:
    touched = {name.partition(".")[0] for name in named(ROOT / path).imports} & IMPURE
    assert not touched, f"{path} imports {sorted(touched)}"


@pytest.mark.parametrize("package", sorted(ONLY_IN))
def test_packages_stay_in_their_rooms(package: str) -> None:
    strangers = [
        str(path.relative_to(ROOT))
        for path in python_files("app", "services", "schemas", "rules")
        if any(name.partition(".")[0] == package for name in named(path).imports)
        and not str(path.relative_to(ROOT)).startswith(ONLY_IN[package])
    ]
    assert not strangers


def test_the_dialogue_has_one_keeper() -> None:
    """Nothing in services but the session decides, or holds where the dialogue stands."""
    keepers = {
        str(path.relative_to(ROOT))
        for path in python_files("services")
        if {"DialogueState", "decide"} & named(path).imports.get("services.dialogue", frozenset())
    }
    assert keepers == {"services/session/session.py"}


PRODUCT = ("app", "services", "schemas", "rules")


def test_the_product_imports_nothing_of_the_repository_around_it() -> None:
    """Neither benchmarks, training and tools of deploy, nor tests: what is installed has none of them."""
    strangers = {
        str(path.relative_to(ROOT)): sorted(away)
        for path in python_files(*PRODUCT)
        if (
            away := {
                name for name in named(path).imports if name.partition(".")[0] in {"deploy", "tests", "recogniser"}
            }
        )
    }
    assert not strangers


def test_the_product_has_no_fakes() -> None:
    classes = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files(*PRODUCT)
        for name in named(path).classes
        if name.lstrip("_").startswith(("Fake", "Simulated", "Dummy", "Mock"))
    ]
    assert not classes


HELPERS = ("tests/harness", "tests/fakes", "tests/recipes", "tests/wire/realtime/clients")
LONG_FILES = {
    "schemas/call.py": "one union of what a call takes in and tells",
    "schemas/errors.py": "one tree of errors",
    "services/ports.py": "every protocol",
}
LONG_FUNCTIONS = {"app/migrations/versions/0001_money.py _ledger_transfers": "one table"}


def test_no_file_has_outgrown_its_room() -> None:
    """300 lines are enough; what is longer is named here with its reason, and ends at 350."""
    long = {
        name: length
        for path in python_files(*PRODUCT, "deploy", *HELPERS)
        for name, length in [(str(path.relative_to(ROOT)), len(path.read_text().splitlines()))]
        if length > (350 if name in LONG_FILES else 300)
    }
    assert not long


def test_no_function_is_longer_than_a_screen() -> None:
    """40 lines, its comment and all; what is longer is named here with its reason."""
    long = {
        f"{path.relative_to(ROOT)} {name}"
        for path in python_files(*PRODUCT, "deploy", "tests")
        for name, lines in named(path).functions
        if lines >= 40
    }
    assert long == set(LONG_FUNCTIONS)


DOORS = (
    "dialogue",
    "execution",
    "interpretation",
    "normalization",
    "observability",
    "payees",
    "response",
    "session",
    "store",
    "timing",
)
OPEN = {
    "audio": "the child that decodes a stranger's file loads its own few modules, and nothing else of the room",
    "understanding": "interpretation is the order in which its modules are tried",
}


def insiders(room: str, entering: tuple[str, ...]) -> set[str]:
    """Who takes something from further inside a room than its `__init__`."""
    return {
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files(*entering)
        if not path.is_relative_to(ROOT / "services" / room)
        for name in named(path).imports
        if name.startswith(f"services.{room}.")
    }


@pytest.mark.parametrize("room", DOORS)
def test_a_room_with_a_door_is_entered_by_it(room: str) -> None:
    """What these rooms offer is in their `__init__`; nothing of the product takes anything from further inside."""
    assert not insiders(room, PRODUCT)


@pytest.mark.parametrize("room", sorted(path.name for path in (ROOT / "services").iterdir() if path.is_dir()))
def test_no_room_reaches_into_another(room: str) -> None:
    """The composition root alone takes adapters from inside the rooms that have no door."""
    assert room in OPEN or not insiders(room, ("services", "rules", "schemas"))


def test_every_package_name_has_one_owner() -> None:
    names = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file() and path.name != "tests"}
    assert names == {"app", "services", "schemas", "rules"}


PROTOCOLS = "schemas/wire/"
"""Messages of others' protocols are called as their protocols call them."""


def test_no_two_classes_share_a_name() -> None:
    """Private ones too, and those of benchmarks, trials and training: who reads one file has read of all."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in python_files("app", "schemas", "services", "rules", "deploy"):
        where = str(path.relative_to(ROOT))
        for name in () if where.startswith(PROTOCOLS) else named(path).classes:
            places[name].append(where)
    assert len(places) > 900, "the classes were not found"
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_what_begins_with_an_underscore_is_imported_only_below_its_package() -> None:
    taken = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path in python_files("app", "schemas", "services", "rules")
        for module, names in named(path).imports.items()
        for name in names or ("",)
        if (own := f"{module}.{name}".replace(".__", ".").partition("._"))[1]
        and not ".".join(path.relative_to(ROOT).parts).startswith(own[0] + ".")
        and module.partition(".")[0] in {"app", "schemas", "services", "rules"}
    ]
    assert not taken
