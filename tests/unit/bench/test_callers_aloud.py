"""Callers who speak: what marks their sentences, and the oracle that is told them beforehand."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.client import FRAME
from deploy.bench._callers.aloud import FrameStamps
from deploy.bench._callers.told import NotedOracle, note
from deploy.bench._callers.voice import spoken
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance
from schemas.audio import SAMPLE_RATE
from schemas.ids import EN_US
from schemas.transcript import Decode
from services.audio.codec import encode_pcm16

TONE = """import sys, wave, math, struct
said = sys.stdin.read()
with wave.open(sys.argv[1], "wb") as out:
    out.setparams((1, 2, 16000, 0, "NONE", ""))
    length = len(said) * 800
    out.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(k / 9))) for k in range(length)))
"""


def said(tmp_path: Path, text: str) -> PlayedUtterance:
    program = tmp_path / "speak.py"
    program.write_text(TONE)
    return spoken(f"{sys.executable} {program} {{}}", text, "caller-1")


def frames(utterance: PlayedUtterance, stamps: FrameStamps, first: int) -> np.ndarray:
    """The call's sound from frame `first` on, as the microphone sends it."""
    silence = np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32)
    sound = np.concatenate((silence, utterance.samples, silence[:FRAME]))
    stamps.key, stamps.first, stamps.last = utterance.key, first, first + sound.size // FRAME
    sent = [stamps(encode_pcm16(sound[at * FRAME : (at + 1) * FRAME]), first + at) for at in range(sound.size // FRAME)]
    return np.frombuffer(b"".join(sent), dtype="<i2").astype(np.float32) / 32768.0


def test_sums_are_spoken_as_words(tmp_path: Path) -> None:
    assert said(tmp_path, "Please send $1,470.").words == "Please send 1470 dollars."


def test_the_oracle_hears_what_was_noted_wherever_it_stands_in_the_call(tmp_path: Path) -> None:
    utterance, stamps = said(tmp_path, "make it sixty dollars"), FrameStamps()
    note(tmp_path, utterance)
    oracle = NotedOracle(tmp_path)
    heard = asyncio.run(oracle.transcribe(frames(utterance, stamps, 700), EN_US, Decode.FINAL))
    assert heard.text == "make it sixty dollars"


def test_silence_around_a_sentence_bears_no_mark(tmp_path: Path) -> None:
    utterance, stamps = said(tmp_path, "yes"), FrameStamps()
    frames(utterance, stamps, 50)
    pcm = bytes(2 * FRAME)
    assert stamps(pcm, 49) == pcm != stamps(pcm, 50)


def test_two_sentences_have_two_keys(tmp_path: Path) -> None:
    one = said(tmp_path, "yes")
    assert one.key != replace(one, words="no").key
