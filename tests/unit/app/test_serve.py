"""What was there when the service began to listen is no burden to the collector."""

import gc

from app.serve import keep_for_good


def test_a_collection_no_longer_walks_what_was_loaded() -> None:
    kept = [[n] for n in range(1000)]
    try:
        keep_for_good()
        assert gc.get_freeze_count() >= len(kept)
        assert len(gc.get_objects()) < len(kept)
    finally:
        gc.unfreeze()
