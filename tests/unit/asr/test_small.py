"""Our own checkpoints: how many candidates both heads judge, and how many of them are told."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE, Samples
from services.asr.load import decoders
from services.asr.small import ADDED, SmallDecoder
from services.audio.files import read_file
from tests.unit.asr._checkpoint import small_without

DATA: Final = Path(__file__).parents[2] / "data" / "asr"


class Watched:
    """The real model, what it was asked to generate, and what it gave."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.asked: list[dict[str, Any]] = []
        self.encoded: list[Any] = []
        self.prompts: list[list[list[int]]] = []
        self.results: list[Any] = []

    def generate(self, encoded: Any, prompts: list[list[int]], **options: Any) -> Any:
        self.asked.append(options)
        self.encoded.append(encoded)
        self.prompts.append(prompts)
        self.results.append(self._model.generate(encoded, prompts, **options))
        return self.results[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


@pytest.fixture
def decoder(tmp_path: Path) -> SmallDecoder:
    found = decoders(str(small_without("nothing", tmp_path)))["en"]
    assert isinstance(found, SmallDecoder)
    return found


@pytest.fixture
def watched(decoder: SmallDecoder, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Stands in for the decoder's model."""
    model = Watched(decoder._model)
    monkeypatch.setattr(decoder, "_model", model)
    monkeypatch.setattr(decoder._forced, "_model", model)
    return model


@pytest.fixture
def speech() -> Samples:
    return read_file((DATA / "rhvoice_bdl-000.ogg").read_bytes())


@pytest.mark.parametrize(("final", "judged", "told"), [(True, 24, 4), (False, 1, 1)])
def test_more_candidates_are_judged_than_told(
    final: bool, judged: int, told: int, decoder: SmallDecoder, watched: Watched, speech: Samples
) -> None:
    heard = decoder.decode(speech, final=final)
    assert watched.asked[0]["num_hypotheses"] == watched.asked[0]["beam_size"] == judged
    assert len(heard.hypotheses) == told


def test_a_final_is_searched_by_ear_as_well(decoder: SmallDecoder, watched: Watched, speech: Samples) -> None:
    decoder.decode(speech, final=True)
    followed = [prompt for prompts in watched.prompts[1:] for prompt in prompts]
    assert len(followed) == ADDED
    assert all(len(prompt) > len(watched.prompts[0][0]) for prompt in followed)


@pytest.mark.parametrize("lasts", [6.2, 6.24, 6.26])
def test_a_window_never_has_as_many_positions_as_features(decoder: SmallDecoder, speech: Samples, lasts: float) -> None:
    padded = np.pad(speech, (0, round(lasts * SAMPLE_RATE) - speech.size))
    _, features, frames = decoder._mel(padded).shape
    assert frames // 2 != features
