"""What was there when the service began to listen is no burden to the collector."""

import gc

import pytest

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
