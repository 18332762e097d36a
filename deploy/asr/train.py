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
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import rooms
import torch
from ahead import Ahead, Made
from corpus import Batches, Limits, finished, read
from distort import Distortion, kinds, noise_bank, strengths_at
from frontend import RATE
from graphs import Graphs
from model import Recogniser, Shape, deepened
from objective import losses
from peers import Peers
from tokens import load
from tokens import train as learn_tokens
from torch import Tensor


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
    p.add_argument("--without", type=kinds, default=frozenset(), help="distortions to leave out, comma-separated")
    p.add_argument(
        "--agree", type=float, default=0.0, help="weight of what two views of an utterance, of other formants, disagree"
    )
    p.add_argument("--human", type=float, default=4.0, help="weight of human utterances")
    p.add_argument("--spliced", type=float, default=1.5, help="weight of what splice.py makes of them")
    p.add_argument("--japanese", type=float, default=1.6, help="weight of Japanese synthetic utterances")
    p.add_argument(
        "--favour",
        type=favoured,
        action="append",
        default=[],
        metavar="VOICES=WEIGHT",
        help="by their names' beginning",
    )
    p.add_argument("--start-from", type=Path, help="weights of an earlier run with the same vocabulary")
    p.add_argument("--peers", type=int, default=1, help="trainers of this run, each on a device of its own")
    p.add_argument("--rank", type=int, default=0, help="which of them this is; the first writes checkpoints")
    p.add_argument("--graphs", action="store_true", help="replay the encoder as CUDA graphs")
    p.add_argument("--stop-after", type=int, default=0, help="steps, for trials")
    p.add_argument("--save-every", type=float, default=180, help="seconds")
    p.add_argument("--say-every", type=int, default=25, help="steps between lines of figures")
    return p.parse_args()


def favoured(told: str) -> tuple[str, float]:
    """("kokoro:", 4.0) of "kokoro:=4"."""
    voices, _, weight = told.rpartition("=")
    return voices, float(weight)


GROW_EVERY_S = 45
MADE_ROOMS = 96
EASY_S = (1.7, 2.6)
AGREE_EVERY = 20
"""Steps between looks at the leader's clock; a look waits for the device."""


def tokenizer_for(args: argparse.Namespace, texts: list[str]) -> Path:
    """tokenizer.json of the run, learnt on the first start."""
    path: Path = args.run / "tokenizer.json"
    if not path.exists():
        learn_tokens(texts, args.pieces, path)
    return path


class Average:
    """Exponential average of the weights, warming up with the number of steps."""

    def __init__(self, model: Recogniser) -> None:
        self.live = {k: v.detach() for k, v in model.state_dict().items()}
        self.weights = {k: v.clone() for k, v in self.live.items()}

    def update(self, step: int) -> None:
        """Move towards the model."""
        keep = min(0.9985, (1 + step) / (30 + step))
        torch._foreach_lerp_(list(self.weights.values()), [self.live[k] for k in self.weights], 1 - keep)


def rate_at(progress: float, args: argparse.Namespace) -> float:
    """Warm-up, then half a cosine to nearly nothing."""
    if progress < args.warmup:
        return float(args.lr * max(progress, 1e-3) / args.warmup)
    done = (progress - args.warmup) / (1 - args.warmup)
    return float(args.lr * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))))


def views(args: argparse.Namespace) -> int:
    """Of each utterance, that are to agree."""
    return 2 if args.agree else 1


def limits(args: argparse.Namespace) -> Limits:
    """How large batches may be, whatever the views: a step takes as long with two of half as many utterances."""
    return Limits(args.frames // views(args), args.most // views(args), 2 * args.stack)


class Trainer:
    """Model, optimiser, average and clock of a run; continues from its last checkpoint."""

    def __init__(self, args: argparse.Namespace, shape: Shape, peers: Peers) -> None:
        self.args, self.peers = args, peers
        self.last: Path = args.run / "last.pt"
        self.model = Recogniser(shape, args.dropout).to(args.device)
        self.optimiser = optimiser_for(self.model, args.lr)
        self.average = Average(self.model)
        self.encode: Callable[[Tensor], Tensor] = self.model.encode
        self.fresh = args.start_from is None
        self.step, spent = 0, 0.0
        if self.last.exists():
            state = torch.load(self.last, map_location=args.device, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.average.weights = state["average"]
            self.step, spent = state["step"], state["spent"]
        elif args.start_from:
            state = torch.load(args.start_from, map_location=args.device, weights_only=True)
            self.model.load_state_dict(deepened(state["average"], shape.encoder_layers))
            self.average = Average(self.model)
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
        self.average.update(self.step)
        return {name: value.detach() for name, value in vars(found).items()} | {"norm": norm}

    def save(self) -> None:
        """Write a checkpoint in one move, where this trainer leads."""
        if not self.peers.leads():
            return
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
    heads = max(1, args.width // 64)
    shape = Shape(tokenizer.get_vocab_size(), args.width, heads, args.encoder, args.decoder, 4 * args.width, args.stack)
    people = {"human": args.human, "human:commonvoice": 2 * args.human, "spliced": args.spliced}
    weights = people | {"jtalk": args.japanese, "espeak:ja": 1.0} | dict(args.favour)
    trainer = Trainer(args, shape, peers)
    seed = args.seed + trainer.step + 7919 * args.rank
    torch.manual_seed(seed)
    batches = Batches(tokenizer, weights, seed, limits(args), args.device)
    batches.add(corpus)
    made = torch.from_numpy(rooms.bank(args.rooms, MADE_ROOMS))
    distort = Distortion(noise_bank(args.noise), made, seed, args.device, views(args))
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


if __name__ == "__main__":
    main()
