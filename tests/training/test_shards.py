"""Files of training speech, and who makes them: recogniser/voices/shards.py, workers.py."""

from pathlib import Path

from recogniser.voices import shards, workers


def touch(job: tuple[range, Path]) -> None:
    """What a worker does."""
    items, path = job
    path.write_text(" ".join(map(str, items)), encoding="utf-8")


def test_a_files_number_tells_its_items_wherever_a_plan_begins() -> None:
    folder = Path("out")
    assert shards.planned(folder, 7, range(5), 2) == [
        (range(2), folder / "007-00000.npz"),
        (range(2, 4), folder / "007-00001.npz"),
        (range(4, 5), folder / "007-00002.npz"),
    ]
    assert shards.planned(folder, 7, range(2, 5), 2) == shards.planned(folder, 7, range(5), 2)[1:]
    assert shards.planned(folder, 7, range(0), 2) == []


def test_every_shard_is_made(tmp_path: Path) -> None:
    plan = shards.planned(tmp_path, 1, range(5), 2)
    workers.shared(touch, plan, 2)
    assert [path.read_text(encoding="utf-8") for _, path in plan] == ["0 1", "2 3", "4"]
