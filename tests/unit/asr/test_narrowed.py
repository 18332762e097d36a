"""A language's decoder has the tokens that it writes, and says of them what the whole one says."""

import struct
from pathlib import Path
from typing import Final

import ctranslate2
import numpy as np
import pytest

from services.asr.decoder import max_length
from services.asr.load import BUNDLED, MODEL_FOLDER, decoders
from services.asr.narrowed import OwnTokens
from services.asr.natural import NaturalDecoder
from services.asr.packed import tokenizer_of
from services.audio.files import read_file

DATA: Final = Path(__file__).parents[2] / "data" / "asr"


@pytest.fixture(scope="module")
def bundled() -> dict[str, NaturalDecoder]:
    found = decoders(BUNDLED)
    assert all(isinstance(each, NaturalDecoder) for each in found.values())
    return found  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("lang", "said", "unsaid"),
    [
        ("en", [" transfer fifty dollars to aoife o'connor-nguyễn"], [" Send", " 50", " £", " 残高"]),
        ("ja", ["ヴィクトリアに五千円振り込んで", "残高", "〇九〇"], ["50", "OK", "a"]),
    ],
)
def test_what_a_language_writes_is_spelt_and_nothing_else(
    bundled: dict[str, NaturalDecoder], lang: str, said: list[str], unsaid: list[str]
) -> None:
    writer = bundled[lang]._writer
    assert all(writer.ids(text) is not None for text in said)
    assert [text for text in unsaid if writer.ids(text) is not None] == []


def test_each_likes_the_same_transcript_best(bundled: dict[str, NaturalDecoder]) -> None:
    english = bundled["en"]
    samples = read_file((DATA / "rhvoice_bdl-000.ogg").read_bytes())
    natural, marks = english._natural, english._natural.marks
    encoded = natural.model.encode(ctranslate2.StorageView.from_array(english._mel(samples)), to_cpu=True)
    prompt = natural.prompt("en", natural.task)
    whole = natural.model.generate(
        encoded,
        [prompt],
        beam_size=4,
        length_penalty=0,
        max_length=max_length(40, len(prompt)),
        suppress_blank=False,
        suppress_tokens=[i for i in marks.values() if i != natural.id("<|endoftext|>")],
    )[0]
    proposed, _ = english._writer.proposed(encoded, 40)
    assert proposed[0][0] == natural.tokenizer.decode(whole.sequences_ids[0])


def test_names_that_it_cannot_spell_are_not_told_by_their_sound(bundled: dict[str, NaturalDecoder]) -> None:
    samples = np.zeros(16_000, np.float32)
    assert bundled["en"].odds(samples, ["send £ to ann", "send it to ann"]) == ()
    assert bundled["en"].odds(samples, ["send it to ann", "send it to £"])[1] == -np.inf


def test_tokens_are_found_both_ways() -> None:
    written = OwnTokens.of(tokenizer_of(MODEL_FOLDER), "[^!-~À-ɏ]+")
    assert written.ids(written.whole) == list(range(len(written.whole)))
    assert written.ids([written.whole[3], 300]) is None


@pytest.mark.parametrize("spoil", [b"\x05\0\0\0", b"\x06\0"], ids=["another version", "cut"])
def test_a_model_of_another_form_is_refused(spoil: bytes) -> None:
    written = OwnTokens((0,), {0: 0})
    with pytest.raises((ValueError, struct.error)):
        written.narrowed({"model.bin": spoil, "config.json": b"{}", "vocabulary.json": b'["a"]'})
