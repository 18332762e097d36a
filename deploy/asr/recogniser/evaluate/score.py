"""Error rates of a checkpoint while it trains: `recogniser score --run runs/en --lang en --tests acceptance`.

By voice, clean and over a noisy telephone, on whichever device trains: greedy CTC, the decoder's greedy transcript, and
whichever of the two both together find likelier. `tellerline bench asr` has the last word, on the exported model.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from recogniser.distort.augment import level_scale
from recogniser.distort.frontend import RATE, log_mel
from recogniser.distort.wave import Wave, power
from recogniser.train.model import Recogniser, folded, weights
from recogniser.train.tokens import load

TAIL = int(0.16 * RATE)
LONGEST_S = 11.0
MOST_TOKENS = 100
CTC_WEIGHT = 0.4
ROWS = 32


def distance(said: list[str], heard: list[str]) -> int:
    """Levenshtein distance of two lists."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


class CheckpointListener:
    """A checkpoint that transcribes batches of sound."""

    def __init__(self, run: Path, lang: str, device: str) -> None:
        shape, state = weights(run, "average")
        self.device = device
        self.model = Recogniser(shape).eval().requires_grad_(requires_grad=False).to(device)
        self.model.load_state_dict(state)
        self.tokenizer: Tokenizer = load(run / "tokenizer.json")
        special = self.tokenizer.token_to_id
        self.prompt = [special(f"<|{t}|>") for t in ("startoftranscript", lang, "transcribe", "notimestamps")]
        self.blank, self.end = self.prompt[-1], special("<|endoftext|>")

    def hear(self, sound: Tensor) -> list[dict[str, str]]:
        """Transcripts of (batch, samples) by `ctc`, `decoder` and `joint`."""
        block = 2 * self.model.shape.stack
        mel = log_mel(sound)
        mel = level_scale(mel[:, : mel.shape[1] // block * block])
        memory = self.model.encode(folded(mel, self.model.shape.stack))
        log_probs = self.model.ctc(memory).log_softmax(-1)
        spelled = [[int(k) for k in row.unique_consecutive() if k != self.blank] for row in log_probs.argmax(-1)]
        guessed = self.decoded(memory)
        better = self.likelier(memory, log_probs, spelled, guessed)
        text = self.tokenizer.decode
        return [
            {"ctc": text(s).strip(), "decoder": text(g).strip(), "joint": text(g if b else s).strip()}
            for s, g, b in zip(spelled, guessed, better, strict=True)
        ]

    def decoded(self, memory: Tensor) -> list[list[int]]:
        """The decoder's greedy tokens."""
        tokens = torch.tensor([self.prompt], device=self.device).repeat(len(memory), 1)
        for _ in range(MOST_TOKENS):
            best = self.model.decode(tokens, memory)[:, -1].argmax(-1)
            tokens = torch.cat([tokens, best[:, None]], 1)
            if (tokens == self.end).any(1).all():
                break
        rows = [row[len(self.prompt) :] for row in tokens.tolist()]
        return [row[: row.index(self.end)] if self.end in row else row for row in rows]

    def likelier(self, memory: Tensor, log_probs: Tensor, one: list[list[int]], two: list[list[int]]) -> list[bool]:
        """Whether the second transcript is likelier than the first, by both heads."""
        return (self.joint(memory, log_probs, two) >= self.joint(memory, log_probs, one)).tolist()

    def joint(self, memory: Tensor, log_probs: Tensor, rows: list[list[int]]) -> Tensor:
        """(batch,) joint log-probability of a transcript of each row."""
        width = max(1, *map(len, rows))
        padded = torch.tensor([[*r, *[self.end] * (width - len(r))] for r in rows], device=self.device)
        inputs = torch.cat([torch.tensor([self.prompt], device=self.device).repeat(len(rows), 1), padded], 1)
        inputs = inputs[:, : self.model.shape.tokens]
        odds = self.model.decode(inputs, memory).log_softmax(-1)[:, 3:-1]
        mine = odds.gather(2, inputs[:, 4:, None])[..., 0]
        lengths = torch.tensor([len(r) for r in rows], device=self.device)
        guess = (mine * (torch.arange(mine.shape[1], device=self.device) < lengths[:, None])).sum(1)
        steps = torch.full((len(rows),), log_probs.shape[1])
        ctc = -F.ctc_loss(log_probs.transpose(0, 1), padded, steps, lengths.cpu(), self.blank, reduction="none")
        return CTC_WEIGHT * ctc + (1 - CTC_WEIGHT) * guess


def telephone(wave: Wave, sound: Tensor) -> Tensor:
    """A line of G.711 with stationary noise 10 to 20 dB below the speech."""
    noise = wave.coloured(len(sound), sound.shape[1])
    return wave.line(sound + noise * power(sound) / power(noise) * 10 ** -wave.uniform(0.5, 1.0, len(sound), 1))


def batches(tests: Path, lang: str, most: int) -> list[tuple[list[dict[str, str]], Tensor]]:
    """Recordings of a language, at most so many of each voice, neighbours in length together."""
    found, taken = [], defaultdict(int)
    for line in (tests / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        taken[row["voice"]] += 1
        if row["lang"] == lang and taken[row["voice"]] <= most:
            sound = soundfile.read(tests / row["file"], dtype="float32")[0]
            if len(sound) <= LONGEST_S * RATE:
                found.append((row, np.pad(sound, (0, TAIL))))
    found.sort(key=lambda f: len(f[1]))
    groups = [found[i : i + ROWS] for i in range(0, len(found), ROWS)]
    return [
        ([r for r, _ in g], torch.nn.utils.rnn.pad_sequence([torch.from_numpy(s) for _, s in g], batch_first=True))
        for g in groups
    ]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--lang", required=True)
    parser.add_argument("--tests", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--most", type=int, default=80, help="recordings of a voice")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    listener = CheckpointListener(args.run, args.lang, args.device)
    wave = Wave(torch.zeros(1), torch.zeros(1, 1), 1, args.device)
    wrong, said = defaultdict(int), defaultdict(int)
    for rows, sound in batches(args.tests, args.lang, args.most):
        clean = sound.to(args.device)
        for condition, heard in (("clean", clean), ("phone", telephone(wave, clean))):
            for row, texts in zip(rows, listener.hear(heard), strict=True):
                kind = row["voice"].split(":")[0] if row["voice"].startswith(("human", "moved")) else "held"
                units = list(row["text"]) if args.lang == "ja" else row["text"].split()
                for head, text in texts.items():
                    errors = distance(units, list(text) if args.lang == "ja" else text.split())
                    for group in {f"{kind} {condition} {head}", f"{row['voice']} {condition} {head}"}:
                        wrong[group] += errors
                        said[group] += len(units)
    rates = {group: round(100 * wrong[group] / said[group], 1) for group in sorted(said)}
    if args.json:
        args.json.write_text(json.dumps(rates, indent=1), encoding="utf-8")
    for voice in sorted({g.split()[0] for g in rates}):
        print(voice, *(f"{g.partition(' ')[2]} {r}" for g, r in rates.items() if g.split()[0] == voice))
    shown = [f"{g} {rates[g]}" for g in rates if g.startswith(("held", "human ")) and g.endswith(("joint", "ctc"))]
    print("; ".join(shown))
