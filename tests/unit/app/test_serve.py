"""What was there when the service began to listen is no burden to the collector."""

import gc
import sys

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.serve import kept_for_good


def test_a_collection_no_longer_walks_what_was_loaded() -> None:
    try:
        with kept_for_good():
            kept = [[n] for n in range(1000)]
        assert gc.isenabled()
        assert gc.get_freeze_count() >= len(kept)
        assert len(gc.get_objects()) < len(kept)
    finally:
        gc.unfreeze()


def test_what_fails_to_be_made_leaves_the_collector_on() -> None:
    with pytest.raises(ZeroDivisionError), kept_for_good():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_where_ray_is_not_installed_the_command_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray" or name.startswith("app.cluster")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "make ray" in CliRunner().invoke(main, ["serve", "--on", "ray"]).stderr
