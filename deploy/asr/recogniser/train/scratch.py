"""Train: `recogniser train cpu-en data=corpus noise=SPEECH/noise run=runs/a`.

The schedule follows the clock, not the steps: whatever the machine manages, the learning rate has come down when time
is up. `last.pt` is written every few minutes; running the command again goes on from there with the time left. Shards
that are finished while it trains are taken in as they come.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from recogniser.config import settings
from recogniser.distort import rooms
from recogniser.distort.distortion import Distortion, known, noise_bank, strengths_at
from recogniser.distort.frontend import RATE
from recogniser.train.ahead import Ahead, Made
from recogniser.train.corpus import Batches, BatchLimits, finished, read
from recogniser.train.graphs import Graphs
from recogniser.train.model import Recogniser, Shape, deepened
from recogniser.train.objective import losses
from recogniser.train.peers import Peers
from recogniser.train.settings import ScratchSettings
from recogniser.train.tokens import load
from recogniser.train.tokens import train as learn_tokens

GROW_EVERY_S = 45
EASY_S = (1.7, 2.6)
AGREE_EVERY = 20
"""Steps between looks at the leader's clock; a look waits for the device."""


def tokenizer_for(args: ScratchSettings, texts: list[str]) -> Path:
    """tokenizer.json of the run, learnt on the first start."""
    path: Path = args.run / "tokenizer.json"
    if not path.exists():
        learn_tokens(texts, args.pieces, path)
    return path


def averaged(model: Recogniser) -> AveragedModel:
    """The exponential average of a model's weights, which warms up with the number of steps."""

    def towards(averages: Any, current: Any, steps: Tensor | int) -> None:
        keep = min(0.9985, (1 + int(steps)) / (30 + int(steps)))
        torch._foreach_lerp_(averages, current, 1 - keep)

    return AveragedModel(model, multi_avg_fn=towards)  # it counts on the host: the device is not waited for


def rate_at(progress: float, args: ScratchSettings) -> float:
    """Warm-up, then half a cosine to nearly nothing."""
    if progress < args.warmup:
        return float(args.lr * max(progress, 1e-3) / args.warmup)
    done = (progress - args.warmup) / (1 - args.warmup)
    return float(args.lr * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))))


def limits(args: ScratchSettings) -> BatchLimits:
    """How large batches may be, whatever the views: a step takes as long with two of half as many utterances."""
    return BatchLimits(args.frames // args.views, args.most // args.views, 2 * args.stack)


class Trainer:
    """Model, optimiser, average and clock of a run; continues from its last checkpoint."""

    def __init__(self, args: ScratchSettings, shape: Shape, peers: Peers) -> None:
        self.args, self.peers = args, peers
        self.last: Path = args.run / "last.pt"
        self.model = Recogniser(shape, args.dropout).to(args.device)
        self.optimiser = optimiser_for(self.model, args.lr)
        self.average = averaged(self.model)
        self.encode: Callable[[Tensor], Tensor] = self.model.encode
        self.fresh = args.start_from is None
        self.step, spent = 0, 0.0
        if self.last.exists():
            state = torch.load(self.last, map_location=args.device, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.average.module.load_state_dict(state["average"])
            self.step, spent = state["step"], state["spent"]
            self.average.n_averaged.fill_(self.step)
        elif args.start_from:
            state = torch.load(args.start_from, map_location=args.device, weights_only=True)
            self.model.load_state_dict(deepened(state["average"], shape.encoder_layers))
            self.average = averaged(self.model)
        peers.alike(self.model.state_dict().values())
        self.began = time.monotonic() - spent
        self.whole = spent + args.until - time.time() if args.minutes is None else args.minutes * 60
        self.progress = 0.0

    @property
    def spent(self) -> float:
        """Seconds of training so far, over all starts."""
        return time.monotonic() - self.began

    def look(self) -> None:
        """Note what share of the whole time has passed, by the leader's clock."""
        if self.peers.count == 1 or self.step % AGREE_EVERY == 0:
            self.progress = self.peers.agreed(self.spent / self.whole)

    def due(self) -> bool:
        """Whether the training is over."""
        return self.progress >= 1 or bool(self.args.stop_after and self.step >= self.args.stop_after)

    def train(self, made: Made, blank: int) -> dict[str, Tensor]:
        """One step; the losses, free of their graph: one kept alive would be in the way of the next capture."""
        progress, (batch, mel, placed) = self.progress, made
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(progress, self.args)
        flat = max(0.0, 1 - progress / self.args.flat) if self.fresh else 0.0
        ctc_weight = 0.75 if progress < 0.5 else 0.5
        with torch.autocast(mel.device.type, dtype=torch.bfloat16, cache_enabled=False):
            found = losses(self.model, self.encode, batch, mel, blank, placed if flat else None)
        self.optimiser.zero_grad(set_to_none=True)
        found.whole(ctc_weight, self.args.agree, 1.5 * flat).backward()
        self.peers.average(self.model.parameters())
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        self.optimiser.step()
        self.step += 1
        self.average.update_parameters(self.model)
        return {name: value.detach() for name, value in vars(found).items()} | {"norm": norm}

    def save(self) -> None:
        """Write a checkpoint in one move, where this trainer leads."""
        if not self.peers.leads():
            return
        state = {
            "shape": dataclasses.asdict(self.model.shape),
            "model": self.model.state_dict(),
            "average": self.average.module.state_dict(),
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
    args = settings(ScratchSettings, sys.argv[1:])
    known(args.without)
    torch.set_num_threads(args.threads)
    sys.setswitchinterval(2e-4)  # the thread that makes batches would keep the trainer waiting for 5 ms each time
    torch.manual_seed(args.seed)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it builds a plan for every new shape: 0.4 s a step
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    args.run.mkdir(parents=True, exist_ok=True)
    shards = Shards(args.data, args.lang.split(","))
    corpus = read(shards.new(), shards.langs)
    shards.hours = corpus.hours
    peers = Peers(args.peers, args.rank, args.run / "meeting", args.device)
    tokenizer = load(tokenizer_for(args, corpus.text))
    trainer = Trainer(args, Shape(tokenizer.get_vocab_size(), *args.shape), peers)
    seed = args.seed + trainer.step + 7919 * args.rank
    torch.manual_seed(seed)
    batches = Batches(tokenizer, args.weights, seed, limits(args), args.device)
    batches.add(corpus)
    made = torch.from_numpy(rooms.read(args.rooms))
    distort = Distortion(noise_bank(args.noise), made, seed, args.device, args.views)
    size = sum(p.numel() for p in trainer.model.parameters()) / 1e6
    print(f"{len(corpus.text)} utterances, {corpus.hours:.1f} h, {size:.2f} M parameters", flush=True)
    ahead = Ahead(batches_for(trainer, batches, distort, shards), args.device)
    if args.graphs:
        trainer.encode = Graphs(trainer.model, ahead.still).encode
    with closing(ahead):
        loop(trainer, ahead, tokenizer.token_to_id("<|notimestamps|>"))
    peers.part()


def batches_for(trainer: Trainer, batches: Batches, distort: Distortion, shards: Shards) -> Iterator[Made]:
    """Short utterances first, then all of them, with what has been finished meanwhile; distorted."""
    easy = trainer.args.easy if trainer.fresh else 0.0
    while True:
        shards.grow(batches)
        stage = int(trainer.progress / easy) if easy else len(EASY_S)
        longest = int(EASY_S[stage] * RATE) if stage < len(EASY_S) else None
        for batch in batches.chunk(longest):
            distort.wave.strength, distort.mel.strength = strengths_at(
                trainer.progress, trainer.args.distort, fresh=trainer.fresh, without=trainer.args.without
            )
            yield batch, *distort(batch, 2 * trainer.model.shape.stack)
            if longest and int(trainer.progress / easy) != stage:
                break


def loop(trainer: Trainer, ahead: Ahead, blank: int) -> None:
    """Steps until the trainer is due, a line of figures now and then, a checkpoint every few minutes."""
    saved, began, seen = time.monotonic(), time.monotonic(), 0.0
    for made in ahead:
        trainer.look()
        if trainer.due():
            break
        found = trainer.train(made, blank)
        seen += float(made[0].length.sum()) / RATE
        if trainer.step % trainer.args.say_every == 0:
            rate = seen / (time.monotonic() - began)
            said = {"step": trainer.step, "minutes": round(trainer.spent / 60, 2), "heard_per_s": round(rate)}
            print(json.dumps(said | {k: round(v.item(), 3) for k, v in found.items()}), flush=True)
        if time.monotonic() - saved > trainer.args.save_every:
            trainer.save()
            saved = time.monotonic()
    trainer.save()
