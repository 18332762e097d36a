"""Keys are changed while calls are open: gateways with the earlier ones and with the new over one PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.auth.client_secrets import ClientSecrets
from app.auth.principal import Principal, Scope
from app.client import typed
from app.composition.keys import audit_keys
from app.main import SECRETS
from schemas.errors import Unauthenticated
from schemas.ids import CustomerId
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.calls import calling, heard
from tests.harness.gateway import Caller
from tests.harness.served import Served, served
from tests.harness.stores import emptied

ALEX, IMOGEN = CustomerId("alex-morgan"), CustomerId("imogen-hartley")
ORDER = "send fifty dollars to catherine nguyen"
OLD = {"confirmation_key": "c0" + "fe1234567890abcd" * 4, "audit_key": "a0" + "dit987654321fedc" * 4}
NEW = {"confirmation_key": "c1" + "fe1234567890abcd" * 4, "audit_key": "a1" + "dit987654321fedc" * 4}


def before(keys: dict[str, str]) -> dict[str, list[str]]:
    return {f"{name}s_before": [key] for name, key in keys.items()}


@dataclass
class World:
    url: str
    folder: Path

    @asynccontextmanager
    async def gateway(
        self, keys: dict[str, str], earlier: dict[str, str] | None = None, **more: object
    ) -> AsyncIterator[Served]:
        deaf, kept = FakeRecognizer(lambda _seconds: ""), {"transcript_days": 9, "recording_days": 9}
        given = {"database_url": self.url, **kept, **keys, **before(earlier or {}), **more}
        async with served(self.folder, deaf, **given) as running:
            yield running


@pytest.fixture
async def world(postgres_server: str, quick_folder: Path) -> World:
    return World(await emptied(postgres_server), quick_folder)


async def says(call: Caller, words: str) -> str:
    await call.send(typed(words))
    return await heard(call)


async def test_what_waits_under_the_earlier_keys_is_carried_out_under_the_new(world: World) -> None:
    async with world.gateway(OLD) as first, world.gateway(NEW, OLD) as second:
        async with calling(first, ALEX, "en-US") as old, calling(second, IMOGEN, "en-GB") as other:
            assert "Is that right?" in await says(old, ORDER)
            async with calling(second, ALEX, "en-US") as new:
                assert (await heard(new)).startswith("You have yet to answer this. I'll send 50 dollars")
                assert (await says(new, "yes")).startswith("Done: 50 dollars")
                assert [event["state"] for event in new.of("tellerline.ledger")] == ["succeeded"]
            assert (await says(old, "yes")).startswith("That waits for no answer here any more")
            assert not old.of("tellerline.ledger")
            assert "pounds" in await says(other, "what's my balance"), "a call under the new keys"
        given = [(audit_keys(one.gateway.settings).of(SECRETS), one.gateway.clock) for one in (first, second)]
        secrets = [ClientSecrets(*one) for one in given]
        asked = Principal(ALEX, ALEX, frozenset({Scope.CALL}))
        assert secrets[1].verify(secrets[0].issue(asked, 60).value).customer == ALEX
        with pytest.raises(Unauthenticated):
            secrets[0].verify(secrets[1].issue(asked, 60).value)


async def test_a_gateway_that_does_not_know_the_new_keys_yet_moves_nothing(world: World) -> None:
    gateways = world.gateway(NEW, OLD), world.gateway(OLD)
    async with gateways[0] as first, gateways[1] as second, calling(first, ALEX, "en-US") as ahead:
        assert "Is that right?" in await says(ahead, ORDER)
        async with calling(second, ALEX, "en-US") as behind:
            assert await says(behind, "yes") == "What would you like to do?"
            assert not behind.of("tellerline.ledger")
        assert (await says(ahead, "yes")).startswith("Done: 50 dollars"), "where its keys are known"
