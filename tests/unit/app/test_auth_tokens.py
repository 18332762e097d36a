"""Access tokens: what is accepted, and every way one can be wrong."""

import asyncio
import base64
import hmac
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

from app.auth import jwks
from app.auth.demo import LIFE_S, DemoIssuer
from app.auth.jwks import AGAIN_S, FRESH_S, PATIENCE_S, STALE_S, FixedKeys, TokenVerifier, public_keys
from app.auth.principal import Principal, Scope
from app.auth.tokens import MAX_TOKEN, SignedToken, UnknownKey, signed_token
from schemas.errors import DependencyFailed, MissingScope, TellerlineError, Unauthenticated
from services.timing.clock import ManualClock
from tests.harness.tokens import AT, KEY, KEYS, NOW, RULES, token, verify_token


def test_a_good_token_names_its_customer() -> None:
    principal = verify_token(token(), KEYS, RULES, NOW)
    assert (principal.customer, principal.scopes) == ("ann", {Scope.CALL})
    assert principal.caller() == "ann"
    with pytest.raises(MissingScope):
        principal.require(Scope.QA)


def test_staff_are_no_customers() -> None:
    principal = verify_token(token(scope="qa admin"), KEYS, RULES, NOW)
    assert principal.customer is None
    with pytest.raises(MissingScope):
        principal.caller()


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.test"}, {"iss": ...}, {"iss": 5}, {"aud": "another"}, {"aud": ...}, {"aud": ["x", "y"]},
        {"sub": ...}, {"sub": ""}, {"sub": "a" * 129}, {"sub": 7}, {"sub": "a\nb"}, {"exp": AT - 31}, {"exp": ...},
        {"exp": "soon"}, {"nbf": AT + 31}, {"iat": AT + 31}, {"iat": ...}, {"exp": AT + 90_000}, {"scope": ["call"]},
    ],
    ids=str,
)  # fmt: skip
def test_claims_that_do_not_hold(changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        verify_token(token(**changes), KEYS, RULES, NOW)


def test_which_claim_does_not_hold_is_told() -> None:
    with pytest.raises(Unauthenticated, match="aud"):
        verify_token(token(aud="another"), KEYS, RULES, NOW)


def test_clocks_may_differ_a_little() -> None:
    verify_token(token(exp=AT - 29), KEYS, RULES, NOW)
    verify_token(token(nbf=AT + 29, iat=AT + 29, exp=AT + 60), KEYS, RULES, NOW)
    verify_token(token(aud=["other", "tellerline"]), KEYS, RULES, NOW)


def _parts(text: str) -> list[str]:
    return text.split(".")


def _head(**fields: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(fields | {"kid": "one"})).rstrip(b"=").decode()


def _unsigned() -> str:
    return f"{_head(alg='none')}.{_parts(token())[1]}."


def _swapped() -> str:
    return ".".join([_parts(token())[0], _parts(token(sub="bob"))[1], _parts(token())[2]])


def _confused() -> str:
    """The public key used as a shared secret."""
    text = f"{_head(alg='HS256')}.{_parts(token())[1]}"
    mac = hmac.digest(KEY.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "a.b.c", "é.b.c", "." * 10, token()[:-4] + "AAAA", _unsigned(), _swapped(), _confused(),
        "a" * (MAX_TOKEN + 1), token(header={"typ": "secevent+jwt"}), token(header={"kid": ...}),
        "a..b",
    ],
)  # fmt: skip
def test_what_is_no_token(text: str) -> None:
    with pytest.raises(Unauthenticated) as refused:
        verify_token(text, KEYS, RULES, NOW)
    assert not text or text not in str(refused.value)


def test_another_issuers_key_with_a_known_name() -> None:
    impostor = OKPKey.generate_key("Ed25519", {"kid": "one"})
    with pytest.raises(Unauthenticated):
        verify_token(token(impostor), KEYS, RULES, NOW)


@pytest.mark.parametrize(
    ("key", "alg"),
    [
        (RSAKey.generate_key(2048, {"kid": "r"}), "RS256"),
        (RSAKey.generate_key(2048, {"kid": "p"}), "PS256"),
        (ECKey.generate_key("P-256", {"kid": "e"}), "ES256"),
    ],
    ids=["RS256", "PS256", "ES256"],
)
def test_algorithms_of_real_issuers(key: Any, alg: str) -> None:
    keys = public_keys({"keys": [key.as_dict(private=False) | {"use": "sig"}]})
    assert verify_token(token(key, alg), keys, RULES, NOW).customer == "ann"


def test_an_unknown_key_is_told_apart() -> None:
    with pytest.raises(UnknownKey):
        verify_token(token(OKPKey.generate_key("Ed25519", {"kid": "two"})), KEYS, RULES, NOW)


@pytest.mark.parametrize(
    "document",
    [
        {}, {"keys": []}, {"keys": [5]}, {"keys": "x"}, {"keys": [{"kty": "oct", "k": "c2VjcmV0" * 6}]},
        {"keys": [{"kty": "RSA"}]}, {"keys": [KEY.as_dict(private=False) | {"use": "enc"}]},
    ],
    ids=lambda document: str(document)[:30],
)  # fmt: skip
def test_documents_that_hold_no_keys(document: dict[str, Any]) -> None:
    with pytest.raises(DependencyFailed):
        public_keys(document)


@pytest.mark.parametrize(
    "odd",
    [
        {"kty": "AKP", "alg": "ML-DSA-44", "kid": "b", "pub": "AAAA"},
        {"kty": "EC", "crv": "BP-256", "x": "AA", "y": "AA", "kid": "b"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "b"},
        {"kty": "RSA", "kid": "b"},
        {"kid": "b"},
        {"kty": "RSA", "kid": "b", "e": "AQAB", "n": 171 * "x"},
        None,
    ],
    ids=str,
)
def test_a_key_that_is_not_understood_keeps_no_other_one_out(odd: Any) -> None:
    keys = public_keys({"keys": [odd, KEY.as_dict(private=False)]})
    assert verify_token(token(), keys, RULES, NOW).customer == "ann"
    with pytest.raises(UnknownKey):
        verify_token(token(OKPKey.generate_key("Ed25519", {"kid": "b"})), keys, RULES, NOW)


class FakeIssuer:
    """A JWKS that rotates and fails on demand."""

    def __init__(self, *keys: OKPKey) -> None:
        self.keys = keys
        self.fetched = 0
        self.down = False

    async def fetch(self) -> dict[str, Any]:
        self.fetched += 1
        if self.down:
            raise DependencyFailed("down")
        return {"keys": [dict(key.as_dict(private=False)) for key in self.keys]}


async def test_rotation_is_noticed_once_and_not_hammered() -> None:
    clock, old = ManualClock(NOW), KEY
    new = OKPKey.generate_key("Ed25519", {"kid": "two"})
    issuer = FakeIssuer(old)
    verifier = TokenVerifier(issuer, RULES, clock)
    await verifier.verify(token())
    await verifier.verify(token())
    assert issuer.fetched == 1
    issuer.keys = (old, new)
    with pytest.raises(UnknownKey):
        await verifier.verify(token(new))
    assert issuer.fetched == 1
    clock.advance(AGAIN_S)
    assert (await verifier.verify(token(new))).customer == "ann"
    assert issuer.fetched == 2
    for _ in range(5):
        with pytest.raises(UnknownKey):
            await verifier.verify(token(OKPKey.generate_key("Ed25519", {"kid": "nobody"})))
    assert issuer.fetched == 2


async def test_a_key_that_was_rotated_out_is_good_for_nothing_once_the_keys_are_fresh() -> None:
    clock, issuer = ManualClock(NOW), FakeIssuer(KEY)
    verifier = TokenVerifier(issuer, RULES, clock)
    long_lived = token(exp=AT + 80_000)
    await verifier.verify(long_lived)
    issuer.keys = (OKPKey.generate_key("Ed25519", {"kid": "two"}),)
    clock.advance(FRESH_S)
    with pytest.raises(UnknownKey):
        await verifier.verify(long_lived)


async def test_a_signature_that_held_is_looked_at_once_and_all_else_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    clock, good = ManualClock(NOW), token()

    def look(text: str, keys: KeySet) -> SignedToken:
        looked.append(text)
        return signed_token(text, keys)

    monkeypatch.setattr(jwks, "signed_token", look)
    verifier = TokenVerifier(FakeIssuer(KEY), RULES, clock)
    assert verifier.subject(good) is None, "there are no keys yet"
    for _ in range(3):
        assert (await verifier.verify(good)).customer == "ann"
    assert verifier.subject(good) == "ann"
    assert looked == [good]
    for forged in (good[:-8] + "AAAAAAAA", _swapped()):
        with pytest.raises(Unauthenticated):
            await verifier.verify(forged)
        assert verifier.subject(forged) is None
    monkeypatch.setattr(jwks, "REMEMBERED", 1)
    await verifier.verify(token(sub="bob"))
    assert (await verifier.verify(good)).customer == "ann"
    clock.advance(24 * 3600.0)
    with pytest.raises(Unauthenticated, match="exp"):
        await verifier.verify(good)


async def test_an_issuer_that_is_down_is_lived_with_for_a_while() -> None:
    clock, issuer = ManualClock(NOW), FakeIssuer(KEY)
    verifier = TokenVerifier(issuer, RULES, clock)
    issuer.down = True
    with pytest.raises(DependencyFailed):
        await verifier.verify(token())
    issuer.down = False
    clock.advance(AGAIN_S)
    assert (await verifier.verify(token(iat=AT, exp=AT + 80_000))).customer == "ann"
    issuer.down = True
    clock.advance(FRESH_S)
    assert (await verifier.verify(token(exp=AT + 80_000))).customer == "ann"
    clock.advance(STALE_S)
    with pytest.raises(DependencyFailed):
        await verifier.verify(token(iat=AT + 86_000, exp=AT + 100_000))


async def test_whether_there_are_keys_is_known_before_anybody_calls() -> None:
    clock, issuer = ManualClock(NOW), FakeIssuer(KEY)
    verifier = TokenVerifier(issuer, RULES, clock)
    issuer.down = True
    assert not await verifier.has_keys()
    issuer.down = False
    assert not await verifier.has_keys()
    assert issuer.fetched == 1, "whoever asks, the issuer is asked again only after a while"
    clock.advance(AGAIN_S)
    assert await verifier.has_keys()
    issuer.down = True
    clock.advance(FRESH_S)
    assert await verifier.has_keys(), "keys at hand serve while the issuer is down"
    clock.advance(STALE_S)
    assert not await verifier.has_keys()


class HangingIssuer(FakeIssuer):
    """Answers when it is let go."""

    def __init__(self, *keys: OKPKey) -> None:
        super().__init__(*keys)
        self.go = asyncio.Event()
        self.go.set()

    async def fetch(self) -> dict[str, Any]:
        found = await super().fetch()
        await self.go.wait()
        return found


async def test_an_issuer_that_hangs_is_waited_for_by_one_caller_and_shortly() -> None:
    clock, issuer = ManualClock(NOW), HangingIssuer(KEY)
    verifier = TokenVerifier(issuer, RULES, clock)
    good = token(exp=AT + 80_000)
    await verifier.verify(good)
    issuer.go.clear()
    clock.advance(FRESH_S)
    began = time.monotonic()
    assert [p.customer for p in await asyncio.gather(*(verifier.verify(good) for _ in range(20)))] == ["ann"] * 20
    assert time.monotonic() - began < PATIENCE_S + 0.3
    began = time.monotonic()
    assert (await verifier.verify(good)).customer == "ann"
    assert time.monotonic() - began < 0.1
    assert issuer.fetched == 2
    await verifier.close()


async def test_keys_that_nobody_knows_are_answered_together_while_the_issuer_hangs() -> None:
    clock, issuer = ManualClock(NOW), HangingIssuer(KEY)
    verifier = TokenVerifier(issuer, RULES, clock)
    await verifier.verify(token())
    issuer.go.clear()
    clock.advance(AGAIN_S)
    strangers = [token(OKPKey.generate_key("Ed25519", {"kid": f"k{n}"})) for n in range(20)]
    began = time.monotonic()
    found = await asyncio.gather(*map(verifier.verify, [*strangers, token()]), return_exceptions=True)
    assert time.monotonic() - began < PATIENCE_S + 0.3
    assert [type(one) for one in found] == [UnknownKey] * 20 + [Principal]
    issuer.go.set()
    await verifier.verify(token())
    await verifier.close()
    assert issuer.fetched == 2


async def test_the_first_callers_wait_for_one_fetch_and_none_for_a_second() -> None:
    issuer = HangingIssuer(KEY)
    issuer.go.clear()
    verifier = TokenVerifier(issuer, RULES, ManualClock(NOW))
    first = [asyncio.create_task(verifier.verify(token())) for _ in range(5)]
    await asyncio.sleep(PATIENCE_S + 0.1)
    first[0].cancel()  # one who hangs up takes nobody's fetch along
    issuer.go.set()
    assert [p.customer for p in await asyncio.gather(*first[1:])] == ["ann"] * 4
    assert issuer.fetched == 1


async def test_the_demo_issues_what_its_verifier_takes(tmp_path: Path) -> None:
    clock = ManualClock(NOW)
    issuer = DemoIssuer.under(tmp_path, RULES)
    again = DemoIssuer.under(tmp_path, RULES)
    assert (tmp_path / "demo-issuer.pem").stat().st_mode & 0o777 == 0o600
    verifier = TokenVerifier(FixedKeys(issuer.jwks()), RULES, clock)
    assert "d" not in again.jwks()["keys"][0]
    issued = again.token("ann", [Scope.CALL], NOW, clock)
    assert (await verifier.verify(issued)).caller() == "ann"
    clock.advance(LIFE_S + RULES.skew_s)
    with pytest.raises(TellerlineError):
        await verifier.verify(issued)
