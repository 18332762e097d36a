"""Which servers stand on which card at the same time: a whole sweep takes a few starts instead of one a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from deploy.vllm.random_weights import LAUNCHERS, SHAPES, room_gib
from deploy.vllm.serving import Profile
from deploy.vllm.sweep.plan import LoadJob, Phase, jobs


@dataclass
class Standing:
    """A server that one or more phases ask, and all that they ask of it."""

    name: str
    profile: Profile
    jobs: list[LoadJob] = field(default_factory=list)


@dataclass
class CardRound:
    """One card in one round, and what stands there."""

    number: int
    free_gib: float
    standing: list[Standing] = field(default_factory=list)

    @property
    def work(self) -> int:
        """How many runs wait here."""
        return sum(len(server.jobs) for server in self.standing)


def distinct(common: dict[str, Any], phases: Sequence[Phase]) -> tuple[list[Standing], list[str]]:
    """Every server that differs, with the jobs of all phases that ask it; the names of those nothing stands in for."""
    found: dict[str, Standing] = {}
    absent = []
    for phase in phases:
        for server in phase.servers:
            profile = server.resolved()
            if profile.engine not in LAUNCHERS or profile.model not in SHAPES:
                absent.append(f"{phase.name}-{server.name}")
                continue
            alike = json.dumps([profile.model, profile.args, profile.env], sort_keys=True)
            standing = found.setdefault(alike, Standing(f"{phase.name}-{server.name}", profile))
            standing.jobs += jobs(common, phase, server)
    return list(found.values()), absent


def rounds(servers: Sequence[Standing], cards: Sequence[int], card_gib: float) -> list[list[CardRound]]:
    """The servers in their order, each on the card with the least work that has room; a new round where none has.

    Raises ValueError for a server that is larger than a card.
    """
    made: list[list[CardRound]] = []
    for server in servers:
        needed = room_gib(server.profile)
        if needed > card_gib:
            raise ValueError(f"{server.name} takes {needed:.0f} GiB")
        roomy = [card for card in made[-1] if card.free_gib >= needed] if made else []
        if not roomy:
            made.append([CardRound(number, card_gib) for number in cards])
            roomy = made[-1]
        chosen = min(roomy, key=lambda card: card.work)
        chosen.standing.append(server)
        chosen.free_gib -= needed
    return made
