"""Our own checkpoints: how many candidates both heads judge, and how many of them are told."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from services.asr.load import BUNDLED, decoders
from services.asr.small import ADDED, SmallDecoder
from services.audio.files import read_file

DATA: Final = Path(__file__).parents[2] / "data" / "asr"


class Watched:
    """The real model, and what it was asked to generate."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.asked: list[dict[str, Any]] = []
        self.aligned: list[list[list[int]]] = []

    def generate(self, *arguments: Any, **options: Any) -> Any:
        self.asked.append(options)
        return self._model.generate(*arguments, **options)

    def align(self, *arguments: Any) -> Any:
        self.aligned.append(arguments[2])
        return self._model.align(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


@pytest.mark.parametrize(("final", "judged", "told"), [(True, 12, 4), (False, 1, 1)])
def test_more_candidates_are_judged_than_told(
    final: bool, judged: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = decoders(BUNDLED)["en"]
    assert isinstance(decoder, SmallDecoder)
    watched = Watched(decoder._model)
    monkeypatch.setattr(decoder, "_model", watched)
    heard = decoder.decode(read_file((DATA / "rhvoice_bdl-000.ogg").read_bytes()), final=final)
    assert watched.asked[0]["num_hypotheses"] == watched.asked[0]["beam_size"] == judged
    assert len(heard.hypotheses) == told


@pytest.mark.parametrize(("final", "added"), [(True, ADDED), (False, 0)])
def test_a_final_is_searched_by_ear_as_well(final: bool, added: int, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = decoders(BUNDLED)["en"]
    assert isinstance(decoder, SmallDecoder)
    watched = Watched(decoder._model)
    monkeypatch.setattr(decoder, "_model", watched)
    decoder.decode(read_file((DATA / "rhvoice_bdl-000.ogg").read_bytes()), final=final)
    judged = [candidate for each in watched.aligned for candidate in each]
    assert len(judged) == added
    assert all(judged)


class FakeNgrams:
    """Finds each candidate far likelier than the ones proposed before it."""

    def score(self, candidates: list[list[int]]) -> NDArray[np.float64]:
        return np.arange(len(candidates)) * 1e4


def test_the_language_model_ranks_what_the_heads_propose(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = decoders(BUNDLED)["en"]
    assert isinstance(decoder, SmallDecoder)
    speech = read_file((DATA / "rhvoice_bdl-000.ogg").read_bytes())
    plain = decoder.decode(speech, final=True)
    monkeypatch.setattr(decoder, "_ngrams", FakeNgrams())
    ranked = decoder.decode(speech, final=True)
    assert plain.hypotheses[0].text not in {h.text for h in ranked.hypotheses}


def test_digits_cut_short_are_told_as_far_less_likely_than_the_whole() -> None:
    decoder = decoders(BUNDLED)["en"]
    found = 0
    for number in (4, 21, 22, 28):
        speech = read_file((DATA / f"human_an4-{number:03}.ogg").read_bytes())
        best, *others = decoder.decode(speech, final=True).hypotheses
        short = [h for h in others if best.text.startswith(f"{h.text} ")]
        found += len(short)
        assert all(h.avg_logprob < best.avg_logprob - 0.2 for h in short)
    assert found
