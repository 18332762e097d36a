"""One call's end as its caller has it: what is typed there, and what comes back."""

from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from app.client import Line, heard_out, typed
from deploy.bench._callers.hear import AnswerKind, ReplyClassifier, ReplyHeard
from deploy.bench._callers.outcome import CODE

_MOVED: Final = frozenset({"succeeded", "scheduled", "unknown", "submitted"})


@dataclass(slots=True)
class TypedCall:
    """One call's end: what is said there, and the read-backs made in it."""

    base: str
    customer: str
    opened: Line
    ear: ReplyClassifier
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def say(self, text: str) -> ReplyHeard:
        """Type a sentence, hear the reply out, and tell what it was."""
        await self.opened.send(typed(await self.code() if text == CODE else text))
        heard = IncomingReply()
        async for event in self.opened.events():
            heard.take(event, self.orders)
            if event["type"] == "response.done":
                await self.opened.send(heard_out(event["response"]["id"]))
                break
        return heard.answer(self.ear, self.orders)

    async def code(self) -> str:
        """The one-time code, looked up."""
        async with httpx.AsyncClient(base_url=self.base) as client:
            answer = await client.get("/demo/code", params={"customer": self.customer})
            return str(answer.raise_for_status().json()["code"])


@dataclass(slots=True)
class IncomingReply:
    """What came back to a sentence."""

    parts: list[str] = field(default_factory=list)
    read_back: dict[str, Any] | None = None
    moved: list[dict[str, Any]] = field(default_factory=list)
    decided: dict[str, Any] = field(default_factory=dict)

    def take(self, event: dict[str, Any], orders: dict[str, dict[str, Any]]) -> None:
        """An event; `orders` are the call's read-backs so far."""
        match event["type"]:
            case "tellerline.decision":
                self.decided = self.decided or event
            case "tellerline.readback":
                self.read_back = orders[event["proposal_id"]] = event
            case "tellerline.ledger" if event["state"] in _MOVED:
                self.moved.append(orders[event["proposal_id"]])
            case "response.output_text.done":
                self.parts.append(event["text"])

    def answer(self, ear: ReplyClassifier, orders: dict[str, dict[str, Any]]) -> ReplyHeard:
        """All of it, as the caller takes it."""
        told = " ".join(self.parts)
        kinds = ear.kinds(told)
        if self.read_back is None and orders and AnswerKind.READ_BACK in kinds:  # said again, without a new event
            self.read_back = next(reversed(orders.values()))
        made = {name: self.decided.get(name) for name in ("intent", "rule")}
        return ReplyHeard(told, kinds, self.read_back, tuple(self.moved), route=self.decided.get("route") or "", **made)
