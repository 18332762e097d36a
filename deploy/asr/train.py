"""Train: `python train.py --data corpus --run runs/a --minutes 85`.

The schedule follows the clock, not the steps: whatever the machine manages, the learning rate has come down when time
is up. `last.pt` is written every few minutes; running the command again goes on from there with the time left. Shards
that are finished while it trains are taken in as they come.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import rooms
import torch
from corpus import HOP, Batch, Batches, Limits, finished, read
from distort import Distortion, noise_bank, strengths_at
from frontend import RATE
from model import Recogniser, Shape
from tokens import load
from tokens import train as learn_tokens
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from wave_distortion import Placed


def options() -> argparse.Namespace:
    """Command line."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", type=Path, required=True, help="folder with en/, ja/, human/ shards")
    p.add_argument("--lang", default="en,ja", help="languages, comma-separated")
    p.add_argument("--noise", type=Path, required=True, help="folder of background recordings")
    p.add_argument("--rooms", type=Path, help="folder of measured impulse responses, beside made ones")
    p.add_argument("--run", type=Path, required=True)
    time_left = p.add_mutually_exclusive_group(required=True)
    time_left.add_argument("--minutes", type=float, help="of training, over all starts")
    time_left.add_argument("--until", type=float, help="Unix time")
    p.add_argument("--device", default="cpu")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=1, help="OpenMP threads; one is best on shared cores")
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--warmup", type=float, default=0.05, help="share of the time")
    p.add_argument(
        "--easy",
        type=float,
        default=0.1,
        help="share of the time on utterances of up to 1.7 s, and again on those of up to 2.6 s",
    )
    p.add_argument("--flat", type=float, default=0.2, help="share of the time with the flat-start loss, fading")
    p.add_argument(
        "--frames",
        type=int,
        default=6_000,
        help="10 ms frames a batch: small on a CPU, where steps are dear, 20,000 and more on a GPU",
    )
    p.add_argument("--most", type=int, default=48, help="utterances a batch")
    p.add_argument("--width", type=int, default=256)
    p.add_argument("--encoder", type=int, default=6)
    p.add_argument("--decoder", type=int, default=2)
    p.add_argument("--stack", type=int, default=2)
    p.add_argument("--pieces", type=int, default=220, help="word pieces; single characters of Japanese come on top")
    p.add_argument("--dropout", type=float, default=0.0)
    p.add_argument("--distort", type=float, default=1.0, help="how far distortion goes; less where time is short")
    p.add_argument("--human", type=float, default=4.0, help="weight of human utterances")
    p.add_argument("--japanese", type=float, default=1.6, help="weight of Japanese synthetic utterances")
    p.add_argument("--start-from", type=Path, help="weights of an earlier run with the same vocabulary")
    p.add_argument("--stop-after", type=int, default=0, help="steps, for trials")
    p.add_argument("--save-every", type=float, default=180, help="seconds")
    p.add_argument("--say-every", type=int, default=25, help="steps between lines of figures")
    return p.parse_args()


GROW_EVERY_S = 45
MADE_ROOMS = 96
EASY_S = (1.7, 2.6)


def tokenizer_for(args: argparse.Namespace, texts: list[str]) -> Path:
    """tokenizer.json of the run, learnt on the first start."""
    path: Path = args.run / "tokenizer.json"
    if not path.exists():
        learn_tokens(texts, args.pieces, path)
    return path


def even(batch: Batch, positions: int, span: int, placed: Placed, blank: int) -> Tensor:
    """(batch, positions) labels as if speech were even: a flat start that spares CTC its long plateau."""
    middle = (np.arange(positions) + 0.5) * span * HOP
    said = (middle[None] - placed.lead[:, None]) * placed.speed[:, None] / batch.length[:, None]
    share = torch.from_numpy(said.astype(np.float32)).to(batch.labels.device)
    index = (share[:, :, None] >= batch.ends[:, None, :]).sum(-1).clamp(max=batch.labels.shape[1] - 1)
    spoken = (batch.label_lengths > 0).to(share.device)[:, None]
    inside = (share > 0) & (share < 1) & spoken
    return torch.where(inside, batch.labels.gather(1, index), torch.full_like(index, blank))


def losses(
    model: Recogniser,
    batch: Batch,
    mel: Tensor,
    blank: int,
    placed: Placed | None = None,
    smoothing: float = 0.1,
) -> tuple[Tensor, Tensor, Tensor]:
    """(attention cross-entropy, CTC loss a label, flat-start loss) of a batch of distorted mel (batch, frames, 80)."""
    stack = model.shape.stack
    folded = mel.reshape(len(mel), mel.shape[1] // stack, -1).transpose(1, 2)
    memory = model.encode(folded)
    logits = model.decode(batch.inputs, memory)
    attention = F.cross_entropy(
        logits.float().flatten(0, 1), batch.targets.flatten(), ignore_index=-100, label_smoothing=smoothing
    )
    log_probs = model.ctc(memory).float().log_softmax(-1).transpose(0, 1)
    steps = torch.full((len(mel),), memory.shape[1], dtype=torch.long)  # on the host: CTC needs no wait for them
    ctc = F.ctc_loss(
        log_probs, batch.labels, steps, batch.label_lengths, blank=blank, zero_infinity=True, reduction="sum"
    )
    start = torch.zeros((), device=mel.device)
    if placed is not None:
        targets = even(batch, memory.shape[1], 2 * stack, placed, blank)
        start = F.nll_loss(log_probs.transpose(0, 1).flatten(0, 1), targets.flatten())
    return attention, ctc / max(1, int(batch.label_lengths.sum())), start


class Average:
    """Exponential average of the weights, warming up with the number of steps."""

    def __init__(self, model: Recogniser) -> None:
        self.weights = {k: v.detach().clone() for k, v in model.state_dict().items()}

    def update(self, model: Recogniser, step: int) -> None:
        """Move towards the model."""
        keep = min(0.9985, (1 + step) / (30 + step))
        now = model.state_dict()  # one call for all tensors, for hundreds of small ones cost more than the step
        torch._foreach_lerp_(list(self.weights.values()), [now[k].detach() for k in self.weights], 1 - keep)


def rate_at(progress: float, args: argparse.Namespace) -> float:
    """Warm-up, then half a cosine to nearly nothing."""
    if progress < args.warmup:
        return float(args.lr * max(progress, 1e-3) / args.warmup)
    done = (progress - args.warmup) / (1 - args.warmup)
    return float(args.lr * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))))


def limits(args: argparse.Namespace) -> Limits:
    """How large batches may be."""
    return Limits(args.frames, args.most, 2 * args.stack)


class Trainer:
    """Model, optimiser, average and clock of a run; continues from its last checkpoint."""

    def __init__(self, args: argparse.Namespace, shape: Shape) -> None:
        self.args = args
        self.last: Path = args.run / "last.pt"
        self.model = Recogniser(shape, args.dropout).to(args.device)
        self.optimiser = optimiser_for(self.model, args.lr)
        self.average = Average(self.model)
        self.step, spent = 0, 0.0
        if self.last.exists():
            state = torch.load(self.last, map_location=args.device, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.average.weights = state["average"]
            self.step, spent = state["step"], state["spent"]
        elif args.start_from:
            state = torch.load(args.start_from, map_location=args.device, weights_only=True)
            self.model.load_state_dict(state["average"])
            self.average = Average(self.model)
        self.began = time.monotonic() - spent
        self.whole = spent + args.until - time.time() if args.minutes is None else args.minutes * 60

    @property
    def spent(self) -> float:
        """Seconds of training so far, over all starts."""
        return time.monotonic() - self.began

    @property
    def progress(self) -> float:
        """Share of the whole time that has passed."""
        return self.spent / self.whole

    def due(self) -> bool:
        """Whether the training is over."""
        return self.progress >= 1 or bool(self.args.stop_after and self.step >= self.args.stop_after)

    def train(self, batch: Batch, distort: Distortion, blank: int) -> dict[str, Tensor]:
        """One step; the losses."""
        progress, fresh = self.progress, self.args.start_from is None
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(progress, self.args)
        distort.wave.strength, distort.mel.strength = strengths_at(progress, self.args.distort, fresh=fresh)
        flat = max(0.0, 1 - progress / self.args.flat) if fresh else 0.0
        ctc_weight = 0.75 if progress < 0.5 else 0.5
        with torch.no_grad():
            mel, placed = distort(batch, 2 * self.model.shape.stack)
        with torch.autocast(self.args.device.split(":")[0], dtype=torch.bfloat16):
            attention, ctc, even_loss = losses(self.model, batch, mel, blank, placed if flat else None)
        loss = (1 - ctc_weight) * attention + ctc_weight * ctc + 1.5 * flat * even_loss
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        self.optimiser.step()
        self.step += 1
        self.average.update(self.model, self.step)
        return {"attention": attention, "ctc": ctc, "flat": even_loss, "norm": norm}

    def save(self) -> None:
        """Write a checkpoint in one move."""
        state = {
            "shape": dataclasses.asdict(self.model.shape),
            "model": self.model.state_dict(),
            "average": self.average.weights,
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "spent": self.spent,
        }
        torch.save(state, self.last.with_suffix(".tmp"))
        self.last.with_suffix(".tmp").replace(self.last)


def optimiser_for(model: Recogniser, rate: float) -> torch.optim.Optimizer:
    """AdamW; biases and norms are not decayed."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.03}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), eps=1e-8, fused=True)


class Shards:
    """Takes finished shards into the batches, once each."""

    def __init__(self, folder: Path, langs: list[str]) -> None:
        self.folder, self.langs = folder, langs
        self.taken: set[Path] = set()
        self.hours, self.looked = 0.0, 0.0

    def new(self) -> list[Path]:
        """What has come since the last call."""
        self.looked = time.monotonic()
        found = [p for p in finished(self.folder) if p not in self.taken]
        self.taken.update(found)
        return found

    def grow(self, batches: Batches) -> None:
        """Look for more, now and then."""
        if time.monotonic() - self.looked < GROW_EVERY_S:
            return
        more = self.new()
        if more:
            corpus = read(more, self.langs)
            self.hours += corpus.hours
            batches.add(corpus)
            print(f"{len(batches.ids)} utterances, {self.hours:.1f} h", flush=True)


def main() -> None:
    """Train until the time is up."""
    args = options()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it builds a plan for every new shape: 0.4 s a step
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    args.run.mkdir(parents=True, exist_ok=True)
    shards = Shards(args.data, args.lang.split(","))
    corpus = read(shards.new(), shards.langs)
    shards.hours = corpus.hours
    tokenizer = load(tokenizer_for(args, corpus.text))
    heads = max(1, args.width // 64)
    shape = Shape(tokenizer.get_vocab_size(), args.width, heads, args.encoder, args.decoder, 4 * args.width, args.stack)
    weights = {"human": args.human, "human:commonvoice": 2 * args.human, "jtalk": args.japanese, "espeak:ja": 1.0}
    noise, made = noise_bank(args.noise), torch.from_numpy(rooms.bank(args.rooms, MADE_ROOMS))
    trainer = Trainer(args, shape)
    batches = Batches(tokenizer, weights, args.seed + trainer.step, limits(args), args.device)
    batches.add(corpus)
    distort = Distortion(noise, made, args.seed + trainer.step, args.device)
    size = sum(p.numel() for p in trainer.model.parameters()) / 1e6
    print(f"{len(corpus.text)} utterances, {corpus.hours:.1f} h, {size:.2f} M parameters", flush=True)
    loop(trainer, batches, distort, shards)


def batches_for(trainer: Trainer, batches: Batches, shards: Shards) -> Iterator[Batch]:
    """Short utterances first, then all of them, with what has been finished meanwhile."""
    easy = trainer.args.easy if trainer.args.start_from is None else 0.0
    while True:
        shards.grow(batches)
        stage = int(trainer.progress / easy) if easy else len(EASY_S)
        longest = int(EASY_S[stage] * RATE) if stage < len(EASY_S) else None
        for batch in batches.chunk(longest):
            yield batch
            if longest and int(trainer.progress / easy) != stage:
                break


def loop(trainer: Trainer, batches: Batches, distort: Distortion, shards: Shards) -> None:
    """Steps until the trainer is due, a line of figures now and then, a checkpoint every few minutes."""
    blank = batches.tokenizer.token_to_id("<|notimestamps|>")
    saved, began, seen = time.monotonic(), time.monotonic(), 0.0
    for batch in batches_for(trainer, batches, shards):
        if trainer.due():
            break
        found = trainer.train(batch, distort, blank)
        seen += float(batch.length.sum()) / RATE
        if trainer.step % trainer.args.say_every == 0:
            rate = seen / (time.monotonic() - began)
            said = {"step": trainer.step, "minutes": round(trainer.spent / 60, 2), "heard_per_s": round(rate)}
            print(json.dumps(said | {k: round(v.item(), 3) for k, v in found.items()}), flush=True)
        if time.monotonic() - saved > trainer.args.save_every:
            trainer.save()
            saved = time.monotonic()
    trainer.save()


if __name__ == "__main__":
    main()
