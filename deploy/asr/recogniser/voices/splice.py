"""People saying new sentences: recordings of a speaker, cut between words and joined anew.

`recogniser splice --run runs/en --human corpus/human --out corpus/spliced` writes shards as `speak` does. The
few people are heard so often that their sentences are known by heart; their words in other orders are not. A recogniser
that has learnt a little (`--run`) finds the words.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from recogniser.distort.augment import level_scale
from recogniser.distort.frontend import log_mel
from recogniser.evaluate.score import CheckpointListener
from recogniser.train.model import folded
from recogniser.voices.phrases import PhraseClip, PhraseSpeaker, joined, part, places, spans
from recogniser.voices.shards import Spoken, write
from recogniser.voices.synthesise import sentence

FEWEST = 2
"""Words of a sentence: a single one is in the recordings already."""
SHARD = 500
DIGITS = frozenset("zero oh one two three four five six seven eight nine".split())
OFTEN = 0.75
"""Of words said alone, how many are digits or letters."""


class Aligner:
    """Finds the words of a recording with a recogniser's CTC head."""

    def __init__(self, run: Path, device: str) -> None:
        self.listener = CheckpointListener(run, "en", device)
        self.block = 2 * self.listener.model.shape.stack
        self.position_s = self.block * 0.01

    def clip(self, sound: np.ndarray, text: str) -> PhraseClip | None:
        """The recording with its words' places; None where it is too short for its text."""
        encoded = self.listener.tokenizer.encode(text)
        try:
            found = places(self.log_probs(sound), encoded.ids, self.listener.blank)
        except ValueError:
            return None
        middle = [((first + 0.5) * self.position_s, (last + 0.5) * self.position_s) for first, last in found]
        firsts = [i for i, piece in enumerate(encoded.tokens) if piece.startswith("\u2581")]
        lasts = [*(i - 1 for i in firsts[1:]), len(found) - 1]
        heard = [(middle[first][0], middle[last][1]) for first, last in zip(firsts, lasts, strict=True)]
        level = max(1.0, float(np.sqrt(np.square(sound.astype(np.float64)).mean())))
        return PhraseClip(text.split(), spans(sound, heard), sound, level)

    @torch.inference_mode()
    def log_probs(self, sound: np.ndarray) -> np.ndarray:
        """(positions, labels) of int16 sound."""
        model = self.listener.model
        mel = log_mel(torch.from_numpy(sound / np.float32(32768))[None].to(self.listener.device))
        mel = level_scale(mel[:, : mel.shape[1] // self.block * self.block])
        heard = model.ctc(model.encode(folded(mel, model.shape.stack)))[0].log_softmax(-1)
        return heard.double().cpu().numpy()


def speakers(human: Path, aligner: Aligner) -> dict[str, PhraseSpeaker]:
    """Everybody who speaks English in what voices/people.py wrote, by corpus and speaker."""
    with np.load(human / "train.npz") as shard:
        audio, length = shard["audio"], shard["length"]
        rows = zip(shard["text"], shard["voice"], shard["speaker"], shard["lang"], strict=True)
        told = [(str(text), str(voice), str(speaker), lang == "en") for text, voice, speaker, lang in rows]
    found: defaultdict[str, PhraseSpeaker] = defaultdict(PhraseSpeaker)
    for sound, (text, voice, speaker, english) in zip(
        np.split(audio, np.cumsum(length)[:-1]), tqdm(told, unit="clip"), strict=True
    ):
        if english and (clip := aligner.clip(sound, text)):
            found[f"{voice.split('|')[0].removeprefix('human:')}/{speaker}"].add(clip)
    return dict(found)


def spliced(people: dict[str, PhraseSpeaker], rng: random.Random) -> Iterator[Spoken]:
    """Endless sentences of the grammar, each by one of those who know its words."""
    knowing: defaultdict[str, set[str]] = defaultdict(set)
    for name, speaker in people.items():
        for word in speaker.words():
            knowing[word].add(name)
    while True:
        category, text, _ = sentence("en", rng, practice=True)
        words = text.split()
        able = set.intersection(*(knowing.get(word, set()) for word in words))
        if able and len(words) >= FEWEST:
            name = rng.choice(sorted(able))
            yield people[name].say(words, rng), text, f"spliced:{name.split('/')[0]}|{category}"


def alone(people: dict[str, PhraseSpeaker], rng: random.Random) -> Iterator[Spoken]:
    """Endless single words out of sentences: mostly digits and letters, now and then any other."""
    found: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for name, speaker in people.items():
        for at, clip in enumerate(speaker.clips):
            for place, word in enumerate(clip.words):
                found[word].append((name, at, place))
    often = sorted(word for word in found if word in DIGITS or len(word) == 1)
    while True:
        word = rng.choice(often) if rng.random() < OFTEN else rng.choice(sorted(found))
        name, at, place = rng.choice(found[word])
        yield joined([part(people[name].clips[at], place, place)]), word, f"spliced:{name.split('/')[0]}|alone"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="a recogniser of English, to find the words")
    parser.add_argument("--human", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=24_000)
    parser.add_argument("--alone", action="store_true", help="single words instead of sentences")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    people = speakers(args.human, Aligner(args.run, args.device))
    made = islice((alone if args.alone else spliced)(people, random.Random(f"splice:{args.seed}")), args.count)
    for number in tqdm(range(-(-args.count // SHARD)), unit="shard"):
        write(args.out / f"{args.seed:03d}-{number:05d}.npz", list(islice(made, SHARD)), "en")
