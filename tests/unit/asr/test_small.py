"""Our own checkpoints: how many candidates both heads judge, and how many of them are told."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, Samples
from services.asr.load import BUNDLED, decoders
from services.asr.small import ADDED, SmallDecoder
from services.audio.files import read_file

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
def decoder() -> SmallDecoder:
    found = decoders(BUNDLED)["en"]
    assert isinstance(found, SmallDecoder)
    return found


@pytest.fixture
def watched(decoder: SmallDecoder, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Stands in for the decoder's model."""
    model = Watched(decoder._model)
    monkeypatch.setattr(decoder, "_model", model)
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


@pytest.mark.parametrize(("final", "added"), [(True, ADDED), (False, 0)])
def test_a_final_is_searched_by_ear_as_well(
    final: bool, added: int, decoder: SmallDecoder, watched: Watched, speech: Samples
) -> None:
    decoder.decode(speech, final=final)
    followed = [prompt for prompts in watched.prompts[1:] for prompt in prompts]
    assert len(followed) == added
    assert all(len(prompt) > len(watched.prompts[0][0]) for prompt in followed)


def test_the_decoder_judges_what_others_propose_as_what_it_proposes_itself(
    decoder: SmallDecoder, watched: Watched, speech: Samples
) -> None:
    decoder.decode(speech, final=True)
    proposed = watched.results[0][0]
    ids = [list(i) for i in proposed.sequences_ids]
    guessed = decoder._guesses(ids, watched.encoded[0])
    assert guessed == pytest.approx([len(i) * score for i, score in zip(ids, proposed.scores, strict=True)], abs=0.1)
    assert decoder._guesses([ids[0][:-2]], watched.encoded[0])[0] < guessed[0] - 1


class FakeNgrams:
    """Finds each candidate far likelier than the ones proposed before it."""

    def score(self, candidates: list[list[int]]) -> NDArray[np.float64]:
        return np.arange(len(candidates)) * 1e4


def test_the_language_model_ranks_what_the_heads_propose(
    decoder: SmallDecoder, speech: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = decoder.decode(speech, final=True)
    monkeypatch.setattr(decoder, "_ngrams", FakeNgrams())
    ranked = decoder.decode(speech, final=True)
    assert plain.hypotheses[0].text not in {h.text for h in ranked.hypotheses}


@pytest.mark.parametrize("lasts", [6.2, 6.24, 6.26])
def test_a_window_of_as_many_positions_as_features_is_heard_like_any_other(
    decoder: SmallDecoder, speech: Samples, lasts: float
) -> None:
    padded = np.pad(speech, (0, round(lasts * SAMPLE_RATE) - speech.size))
    heard = decoder.decode(padded, final=True)
    assert heard.hypotheses[0].text == decoder.decode(speech, final=True).hypotheses[0].text
    assert heard.no_speech_prob < 0.1
