"""Train Whisper base for windows as long as the speech, and for plain words: `recogniser fine-tune whisper folder=…`.

FOLDER is where a payload's parts arrive (weights.1, weights.2, tokenizer.json, *.npz); what arrives later is taken in.
The weights that it begins with are the teacher, in a long window; the student hears just the speech and a little more,
distorted. It is to have the teacher's encoder states everywhere, what the teacher writes (Whisper's own spelling) where
asked so, and the transcript in plain words where it is asked for these. FOLDER/end, if there is one, holds the second
of the epoch at which training ends. Checkpoints lie in FOLDER/out/NAME, coded as they ship.
"""

from __future__ import annotations

import copy
import hashlib
import math
import random
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from recogniser.config import settings
from recogniser.evaluate.listen import WindowedListener, score, stretches
from recogniser.export.pack import SHIPPED
from recogniser.train.ahead import Ahead
from recogniser.train.batches import IGNORE, TaughtBatch, TaughtBatches
from recogniser.train.checkpoints import begun, kept
from recogniser.train.ears import Ears
from recogniser.train.settings import FineTuning
from recogniser.train.sound import HELD_OUT_NOISES, RATE, Bank, BankedClip, RowDistortion
from recogniser.train.teacher import Teacher, TokenWords
from recogniser.train.whisper import Steps, Whisper

NEXT = {"embedding": 0.1, "linear": 0.07}
"""For the round after."""
DECODER_RATE = 0.6
ARRIVE_S = 8
"""Between two parts that are taken in: the teacher hears 1,500 utterances in some four seconds."""
TOLD = 4
"""Of so many synthetic clips the teacher writes one."""
DEAF = 200
"""Steps in which the CTC heads learn, and teach nothing."""


def losses(model: Whisper, batch: TaughtBatch, embedding: Tensor, *, deaf: bool = False) -> dict[str, Tensor]:
    """Encoder's distance to the teacher, cross-entropy of plain words, of what the teacher writes its distance, CTC.

    While `deaf` the heads, which know nothing yet, do not move the encoder.
    """
    with torch.autocast(batch.mel.device.type, torch.bfloat16):
        states = model.encoder(batch.mel)
        hidden = model.states(batch.inputs, states)
    out: dict[str, Tensor] = {}
    if batch.hears.any():
        want = batch.heard[batch.hears].float()
        out["encoder"] = (states[batch.hears].float() - want).square().sum() / want.square().sum()
    assert model.ears is not None
    by_ear = model.ears.loss(states.detach() if deaf else states, batch.ears, batch.langs)
    if by_ear is not None:
        out["ears"] = by_ear
    valid = batch.targets != IGNORE
    plain, told = valid & ~batch.taught[:, None], valid & batch.taught[:, None]
    table = embedding.to(torch.bfloat16).T
    if plain.any():
        logits = (hidden[plain].to(torch.bfloat16) @ table).float()
        out["plain"] = functional.cross_entropy(logits, batch.targets[plain], label_smoothing=0.03)
    if told.any():
        own = hidden[told].float()
        with torch.no_grad():
            want = (batch.hidden.to(torch.bfloat16) @ table).float().log_softmax(-1)
        have = (own.to(torch.bfloat16) @ table).float().log_softmax(-1)
        out["told"] = functional.kl_div(have, want, log_target=True, reduction="sum") / len(own)
        out["hidden"] = (own - batch.hidden).square().sum() / batch.hidden.square().sum()
    return out


WEIGHTS = {"encoder": 2.0, "plain": 1.0, "told": 1.0, "hidden": 0.5}


def turn(path: Path) -> tuple[int, str]:
    """In which order parts are taken in: people, what was spoken beforehand, then languages by turns."""
    first = ("people", "spoken").index(path.name.split("-")[0]) if path.name.startswith(("people", "spoken")) else 2
    return first, path.stem.split("-")[-1] + path.name


def fifth(text: str) -> int:
    """Which fifth of a corpus a sentence is of."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 5


class TrainingRun:
    """One training."""

    def __init__(self, args: FineTuning) -> None:
        self.args, self.folder, self.device = args, args.folder, args.device
        self.out = self.folder / "out" / args.name
        self.out.mkdir(parents=True, exist_ok=True)
        self.words = TokenWords.load(self.folder / "tokenizer.json")
        self.raw, self.aliases = begun(self.folder)
        ears = Ears(self.folder, self.raw, self.raw["encoder/conv1/bias"].size)
        self.model = Whisper(self.raw, self.words.task, ears).to(self.device)
        names = self.words.tokenizer.get_vocab()
        special = [i for token, i in names.items() if token.startswith("<|") and i != self.words.end]
        self.teacher = Teacher(self.model, self.words, torch.tensor(special, device=self.device))
        self.bank, self.rng, self.taken = Bank(self.device), random.Random(args.seed), set[str]()
        self.batches: TaughtBatches | None = None
        self.ahead: Ahead | None = None
        self.tests: list[BankedClip] = []
        self.begun, self.step, self.done = time.time(), 0, 0.0
        self.lately: dict[str, float] = {}
        self.average: dict[str, Tensor] = {}

    @property
    def ears(self) -> Ears:
        """The CTC heads."""
        assert self.model.ears is not None
        return self.model.ears

    def say(self, text: str) -> None:
        """Log."""
        line = f"{time.strftime('%H:%M:%S')} {text}"
        print(line, flush=True)
        with (self.out / "log").open("a") as log:
            log.write(line + "\n")

    def arrive(self) -> None:
        """Take in the next part that is new; people come first."""
        for path in sorted(self.folder.glob("[a-z]*.npz"), key=turn):
            if path.name in self.taken:
                continue
            self.taken.add(path.name)
            with self.ahead.still if self.ahead else nullcontext():
                self.take_in(path)
            return

    def take_in(self, path: Path) -> None:
        """One part: what is trained on, and what is kept for scores."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        clips = self.bank.add(path, self.args.most)
        for clip in clips:
            if clip.kind.startswith("human:commonvoice") and fifth(clip.text) == self.args.fold:
                clip.kind = f"test:fold-{clip.lang}"
        if self.batches is None:
            noises = [
                self.bank.take(c) for c in clips if c.kind.startswith("noise:") and c.kind[6:] not in HELD_OUT_NOISES
            ]
            rooms = [self.bank.take(c) for c in clips if c.kind.startswith("room:")]
            distortion = RowDistortion(noises, rooms, self.rng)
            self.batches = TaughtBatches(
                self.bank, self.teacher, self.words, self.ears, distortion, self.rng, self.args.frames
            )
        self.tests += [c for c in clips if c.kind.startswith("test:")]
        self.tests += [t for c in clips if c.kind[6:] in HELD_OUT_NOISES for t in stretches(c)]
        usable = [c for c in clips if self.learned_from(c)]
        if not usable:
            return
        told = {i for i, c in enumerate(usable) if c.kind.startswith("human:") or i % TOLD == 0}
        self.teacher.take(self.bank, usable, told)
        self.batches.add(usable)
        hours, told = sum(c.length for c in usable) / RATE / 3600, sum(c.hidden >= 0 for c in usable)
        self.say(f"{path.name}: {len(usable)} clips, {hours:.2f} h, {told} written by the teacher")

    def learned_from(self, clip: BankedClip) -> bool:
        """Whether a clip is speech to train on, of a language that is trained."""
        surroundings = clip.kind.startswith(("noise:", "room:", "test:"))
        return not surroundings and clip.length <= 11 * RATE and self.args.only in ("", clip.lang)

    def end(self) -> float:
        """When training ends, in seconds of the epoch."""
        path = self.folder / "end"
        return float(path.read_text()) if path.exists() else self.begun + 60 * self.args.minutes

    def train(self) -> None:
        """Until the end."""
        while not any(self.folder.glob("people-*.npz")):
            time.sleep(0.5)
        self.arrive()
        self.begun = time.time()
        self.average = {k: v.detach().clone() for k, v in self.model.train().named_parameters()}
        exact, coarse = self.model.embedding.clone(), self.rounded(self.model.embedding)
        groups, optimizer = self.optimizer()
        first = [[p.detach().clone() for p in group] for group in groups[:2]]
        self.say(f"before: {score(WindowedListener(self.model, self.words, self.bank), self.tests)}")
        due = {"arrive": 0.0, "score": time.time() + self.args.score, "keep": time.time() + self.args.keep}
        self.ahead = Ahead(self.made(), self.device)
        for batch in self.ahead:
            if (now := time.time()) >= (end := self.end()) or self.step >= self.args.steps:
                break
            done = self.done = (now - self.begun) / (end - self.begun)
            Steps.linear = SHIPPED["linear"] if done > self.args.coarse else 0.0
            self.model.embedding.copy_(coarse if done > self.args.coarse else exact)
            self.learn(batch, done, groups, optimizer)
            self.hold(first, groups, done)
            self.beside(due, done)
        self.ahead.close()
        Steps.linear = SHIPPED["linear"]
        self.model.embedding.copy_(coarse)
        self.report(1.0)
        kept(self.model, self.average, self.raw, self.aliases, self.out, "ships", SHIPPED)
        self.model.embedding.copy_(exact)
        kept(self.model, self.average, self.raw, self.aliases, self.out, "next", NEXT)
        (self.out / "finished").write_text("yes\n")

    def optimizer(self) -> tuple[list[list[Tensor]], torch.optim.Optimizer]:
        """(parameters of encoder, decoder and CTC heads, what moves them)."""
        groups: list[list[Tensor]] = [
            list(self.model.encoder.parameters()),
            [*self.model.decoder.parameters(), self.model.asked],
            list(self.ears.parameters()),
        ]
        rates = (self.args.lr, self.args.lr * DECODER_RATE, self.args.ear_lr)
        told = [{"params": group, "lr": rate, "top": rate} for group, rate in zip(groups, rates, strict=True)]
        return groups, torch.optim.AdamW(told, betas=(0.9, 0.98), weight_decay=0.01, fused=self.device == "cuda")

    def made(self) -> Iterator[TaughtBatch]:
        """Batches without end, harder as the steps go."""
        assert self.batches is not None
        while True:
            strength = min(1.0, self.step / 400) * (1.0 if self.done < 0.9 else 0.7)
            yield self.batches.make(self.batches.group(), strength, min(self.args.plain, self.step / 500))

    def learn(
        self, batch: TaughtBatch, done: float, groups: list[list[Tensor]], optimizer: torch.optim.Optimizer
    ) -> None:
        """One step, at a share `done` of the time."""
        for told in optimizer.param_groups:
            told["lr"] = told["top"] * self.rate(done)
        found = losses(self.model, batch, self.model.embedding, deaf=self.step < DEAF)
        weights = WEIGHTS | {"ears": self.args.ears}
        loss = sum((weights[k] * v for k, v in found.items()), torch.zeros((), device=self.device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for group in groups:
            torch.nn.utils.clip_grad_norm_(group, 1.0)
        optimizer.step()
        self.step += 1
        decay = min(0.999, self.step / (self.step + 20))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.values()), list(self.model.parameters()), 1 - decay)
        if self.step % 25 == 0:
            for name, value in found.items():
                self.lately[name] = 0.8 * self.lately.get(name, value.item()) + 0.2 * value.item()

    def rate(self, done: float) -> float:
        """Share of the learning rate at a share `done` of the time."""
        return min(1.0, (self.step + 1) / 150) * (0.02 + 0.98 * (0.5 + 0.5 * math.cos(math.pi * done)))

    @torch.no_grad()
    def hold(self, first: list[list[Tensor]], groups: list[list[Tensor]], done: float) -> None:
        """Encoder and decoder a little back to what they began with, in step with the rate at which they learn."""
        for began, group in zip(first, groups, strict=False):
            torch._foreach_lerp_(group, began, self.args.hold * self.rate(done))

    def beside(self, due: dict[str, float], done: float) -> None:
        """What is due: parts that came, scores, checkpoints."""
        now = time.time()
        if now > due["arrive"]:
            due["arrive"] = now + ARRIVE_S
            self.arrive()
        if now > due["score"]:
            due["score"] = now + self.args.score
            self.report(done)
        if now > due["keep"]:
            due["keep"] = now + self.args.keep
            kept(self.model, self.average, self.raw, self.aliases, self.out, "ships", SHIPPED)

    def rounded(self, embedding: Tensor) -> Tensor:
        """Embeddings as they ship."""
        size = embedding.std(1, keepdim=True, correction=0) * SHIPPED["embedding"]
        return torch.round(embedding / size) * size

    def report(self, done: float) -> None:
        """Log losses and errors of the average."""
        shadow = copy.deepcopy(self.model).eval()
        shadow.load_state_dict(self.average, strict=False)
        told = " ".join(f"{k} {v:.3f}" for k, v in sorted(self.lately.items()))
        heard = score(WindowedListener(shadow, self.words, self.bank), self.tests)
        self.say(f"{self.step} steps, {100 * done:.0f} %: {told} | {heard}")


def main() -> None:
    """Command line."""
    args = settings(FineTuning, sys.argv[1:])
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)  # it plans anew for every shape
    TrainingRun(args).train()
