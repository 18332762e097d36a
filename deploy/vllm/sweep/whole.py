"""Whole phases on one machine's cards, many servers at a time: `python -m deploy.vllm.sweep.whole --payload DIR …`.

Every server that the phases ask is started once, with random weights, beside others on the same card. Of those on a
card one is asked at a time; cards are measured at once. PHASE.csv, PHASE.md and the plots are written after every
run. What does not fit into --budget-s is named in left_out.txt. With --profiles any profile, as it is shipped or
changed, is measured as a system. What is missing is told before anything starts.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deploy.vllm.random_weights import serve, stand_in
from deploy.vllm.sweep import acceptance, datasets, own
from deploy.vllm.sweep.generator_process import Generator
from deploy.vllm.sweep.payload import complete
from deploy.vllm.sweep.plan import LoadJob, Phase, sweep
from deploy.vllm.sweep.report import Record
from deploy.vllm.sweep.run import Generate, examined, measure, write
from deploy.vllm.sweep.servers import Engine
from deploy.vllm.sweep.side_by_side import CardRound, Standing, distinct, rounds

FIRST_PORT = 8101
APART_S = 2.0
RESERVE_S = 20.0
LARGEST_BATCH = 32
"""Batches to here are warmed by the doctor, larger ones by the load's own first round."""


class Whole:
    """The rows of all phases so far, and what was left out, written down as they come."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.until = time.monotonic() + given.budget_s
        self.phases = chosen(given)
        self.rows: dict[str, list[Record]] = defaultdict(list)
        self.left_out: list[str] = []
        self._lock = threading.Lock()

    @property
    def left_s(self) -> float:
        """Seconds of the budget, less what ending takes."""
        return float(self.until - RESERVE_S - time.monotonic())

    def leave_out(self, *names: str) -> None:
        """Put on record that these were not measured."""
        with self._lock:
            self.left_out += names
            (self.given.out / "left_out.txt").write_text("\n".join([*self.left_out, ""]), encoding="utf-8")

    def add(self, rows: list[Record]) -> None:
        """Write the phases anew that these rows belong to."""
        with self._lock:
            for row in rows:
                self.rows[row["phase"]].append(row)
            for phase in self.phases:
                if any(row["phase"] == phase.name for row in rows):
                    write(phase, self.rows[phase.name], self.given.out)
                    drawn = acceptance.as_curves(phase.title, self.rows[phase.name])
                    if drawn:
                        (self.given.out / f"{phase.name}-acceptance.svg").write_text(drawn, encoding="utf-8")

    def on_cards(self, cards: list[CardRound]) -> None:
        """One round: start all, measure each card's in turn and all cards at once, stop all."""
        servers = [(card, server) for card in cards for server in card.standing]
        engines: dict[str, Engine] = {}
        try:
            for place, (card, server) in enumerate(servers):
                engines[server.name] = self._engine(server, card.number, FIRST_PORT + place)
                time.sleep(APART_S)
            with ThreadPoolExecutor(len(cards)) as lanes:
                list(lanes.map(lambda card: self._lane(card, engines), cards))
        finally:
            for engine in engines.values():
                engine.stop()

    def _engine(self, server: Standing, card: int, port: int) -> Engine:
        payload, log = self.given.payload, self.given.out / f"{server.name}.log"
        return serve(stand_in(server.profile, payload, port, card), payload, log, self.given.python)

    def _lane(self, card: CardRound, engines: dict[str, Engine]) -> None:
        log = self.given.out / f"generator-{card.number}.log"
        with Generator(self.given.python, self.given.payload, log) as load:
            began = time.monotonic()
            for server in card.standing:
                engine = engines[server.name]
                if not engine.ready(within_s=max(2.0, self.left_s)):
                    print(f"{server.name}: did not start", flush=True)
                    self.leave_out(*(job.key for job in server.jobs))
                    engine.stop()
                    continue
                print(
                    f"{server.name}: ready {time.monotonic() - began:.0f} s after the last of its round was begun",
                    flush=True,
                )
                self._measure(server, engine, load)

    def _measure(self, server: Standing, engine: Engine, load: Generator) -> None:
        """Every job of a server; each is on record as soon as it is done, for the time may be over at the next."""
        most = max(int(job.flags["max-concurrency"]) for job in server.jobs)
        about = examined(
            engine.url,
            server.profile.role,
            max(4, min(LARGEST_BATCH, most)),
            engine.log,
            weights="random",
            model=server.profile.served_name,
        )
        for job in server.jobs:
            fits = self.left_s > 0
            row = measure(job, engine.url, about, self.given, _by(job, engine.url, about, load)) if fits else None
            if row is None:
                self.leave_out(job.key)
            else:
                self.add([row])


def _by(job: LoadJob, url: str, about: dict[str, object], load: Generate) -> Generate:
    """What makes this job's load: vLLM's generator, or our own client, which leaves its result in the same place."""
    if job.load == "bench":
        return load

    def ours(argv: list[str]) -> str:
        given = dict(itertools.pairwise(argv))
        try:
            result = own.run(job, url, str(about["model"]))
        except Exception as error:  # noqa: BLE001 - one run's fault must not cost the next
            return f"{type(error).__name__}: {error}"
        Path(given["--result-dir"], given["--result-filename"]).write_text(json.dumps(result), encoding="utf-8")
        return ""

    return ours


def options(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", type=Path, required=True, help="vLLM's packages and the models, see gpu/README.md")
    parser.add_argument("--out", type=Path, default=Path("out/sweep"))
    parser.add_argument("--phases", default="", help="comma-separated; all where nothing is named")
    parser.add_argument("--profiles", default="", help="PROFILE[:VARIANT+VARIANT],…: systems")
    parser.add_argument("--cards", default="0", help="which cards, comma-separated")
    parser.add_argument("--card-gib", type=float, default=75.0, help="what servers may take of a card")
    parser.add_argument("--python", default="python3", help="the interpreter that runs vLLM")
    parser.add_argument("--budget-s", type=float, default=3600.0)
    parser.add_argument("--prompts", type=int, default=0, help="fewer prompts a run")
    parser.add_argument("--list", action="store_true", help="say which server would stand where, and start nothing")
    return parser.parse_args(arguments)


def chosen(given: argparse.Namespace) -> list[Phase]:
    """The phases that are asked for, a phase of the profiles that are; all phases where nothing is. Raises KeyError."""
    plan = sweep()
    named = [plan.phases[name] for name in filter(None, given.phases.split(","))]
    of_profiles = [plan.of_profiles(given.profiles)] if given.profiles else []
    return [*named, *of_profiles] or list(plan.phases.values())


def planned(whole: Whole) -> list[list[CardRound]]:
    """The rounds, printed."""
    given = whole.given
    servers, absent = distinct(sweep().bench, whole.phases)
    cards = [int(card) for card in given.cards.split(",")]
    made = rounds(servers, cards, given.card_gib)
    for number, round_ in enumerate(made, start=1):
        for card in round_:
            names = ", ".join(f"{server.name} ({len(server.jobs)})" for server in card.standing)
            print(f"round {number}, card {card.number}, {card.free_gib:.0f} GiB free: {names}", flush=True)
    whole.leave_out(*absent)
    return made


def main(arguments: list[str]) -> int:
    """Measure; 1 where nothing could be."""
    given = options(arguments)
    given.out, given.payload = given.out.absolute(), given.payload.absolute()
    given.tokenizer = str(given.payload / "models" / "e4b")
    (given.out / "raw").mkdir(parents=True, exist_ok=True)
    datasets.write(given.out / "data")
    whole = Whole(given)
    made = planned(whole)
    if given.list:
        return 0
    if not complete(given.payload, [server.profile for cards in made for card in cards for server in card.standing]):
        return 1
    for cards in made:
        whole.on_cards([card for card in cards if card.standing])
    return 0 if whole.rows else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
