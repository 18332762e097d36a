"""FakeFineract: Apache Fineract's account-transfer API over real HTTP, and every way such a server lets one down.

Like Fineract it answers a known `Idempotency-Key` with what it answered before (header `x-served-from-cache`), says 425
while the first request is being worked on, and compares neither the payload nor a client with the account it names. Its
answers have fields of Fineract's `SavingsAccountSummaryData` and `SavingsAccountTransactionData`, and no others.
"""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.fakes.http import Asked, FakeHttpServer

Json = dict[str, Any]
FAULTS = (
    "ok", "refuse", "error", "drop", "error_after", "garbage", "half", "not_json", "no_id", "odd_id", "nested", "slow",
    "delay",
)  # fmt: skip
"""What may happen to a transfer. `refuse` and `error` come before it is carried out, the others after or meanwhile."""


@dataclass
class Savings:
    """An account in cents. `deposit` is 100 of a savings account, 200 of money that is fixed for a term."""

    client: str
    cents: int
    active: bool = True
    deposit: int = 100
    currency: str = "USD"
    transactions: list[Json] = field(default_factory=list)


class FakeFineract(FakeHttpServer):
    """`async with FakeFineract() as core:` listens on `core.url`. `faults` are taken one a transfer, in order."""

    def __init__(self, accounts: dict[str, Savings]) -> None:
        super().__init__()
        self.accounts = accounts
        self.faults: deque[str] = deque()
        self.reads: deque[str] = deque()
        self.carried_out: list[str] = []
        self.requests = 0
        self.pause_s = 0.3
        self.working = asyncio.Event()
        self._answers: dict[str, tuple[int, Json] | None] = {}

    @property
    def total(self) -> int:
        """All money there is, in cents."""
        return sum(account.cents for account in self.accounts.values())

    async def answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """A transfer, or a read."""
        headers = asked.headers
        self.requests += 1
        if headers.get("fineract-platform-tenantid") != "default" or "authorization" not in headers:
            return await self._send(writer, 401, b"{}")
        if asked.method == "POST":
            return await self._transfer(writer, headers.get("idempotency-key", ""), json.loads(asked.body))
        fault = self.reads.popleft() if self.reads else "ok"
        if fault != "ok":
            return await self._misbehave(writer, fault, b"{}")
        status, body = self._read(asked.path.partition("?")[0])
        return await self._send(writer, status, json.dumps(body).encode())

    async def _transfer(self, writer: asyncio.StreamWriter, key: str, body: Json) -> bool:
        if key in self._answers:
            known = self._answers[key]
            if known is None:
                return await self._send(writer, 425, b"{}", cached=True)
            return await self._send(writer, known[0], json.dumps(known[1]).encode(), cached=True)
        fault = self.faults.popleft() if self.faults else "ok"
        if fault in {"refuse", "error"}:
            return await self._misbehave(writer, fault, b"")
        self._answers[key] = None
        self.working.set()
        if fault == "slow":
            await asyncio.sleep(self.pause_s)
        status, answer = self._carry_out(body)
        self._answers[key] = (status, answer)
        if fault == "delay":
            await asyncio.sleep(self.pause_s)
        text = json.dumps(answer).encode()
        if fault in {"ok", "slow", "delay"}:
            return await self._send(writer, status, text)
        return await self._misbehave(writer, fault, text)

    async def _misbehave(self, writer: asyncio.StreamWriter, fault: str, text: bytes) -> bool:
        if fault in {"refuse", "drop"}:
            return False
        if fault == "half":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n" + text[:5])
            await writer.drain()
            return False
        if fault == "no_http":
            writer.write(b"Ann has 4000 dollars\r\n\r\n")
            await writer.drain()
            return False
        if fault in {"drip", "flood"}:
            return await self._pour(writer, fault)
        status = 500 if fault in {"error", "error_after"} else 200
        bodies = {
            "garbage": b"\xff\xfe\x00", "not_json": b"<html>", "no_id": b'{"ok": true}', "list": b"[]",
            "odd_id": b'{"resourceId": "' + 300 * b"x" + b'"}', "nested": 200_000 * b"[",
        }  # fmt: skip
        return await self._send(writer, status, bodies.get(fault, b"{}"))

    async def _pour(self, writer: asyncio.StreamWriter, fault: str) -> bool:
        """An answer without end, by the byte or by the bucket."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" " if fault == "drip" else 65_536 * b" ")
            await writer.drain()
            await asyncio.sleep(0.05 if fault == "drip" else 0)
        return False

    async def _send(self, writer: asyncio.StreamWriter, status: int, body: bytes, *, cached: bool = False) -> bool:
        extra = "x-served-from-cache: true\r\n" if cached else ""
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        return True

    def _carry_out(self, body: Json) -> tuple[int, Json]:
        cents = int(Decimal(body["transferAmount"]) * 100)
        source = self.accounts.get(body["fromAccountId"])
        target = self.accounts.setdefault(body["toAccountId"], Savings(body["toClientId"], 0))
        if source is None:
            return 404, {"userMessageGlobalisationCode": "error.msg.resource.not.found"}
        if source.cents < cents:
            code = "error.msg.savingsaccount.transaction.insufficient.account.balance"
            outer = {"userMessageGlobalisationCode": "validation.msg.domain.rule.violation"}
            return 403, outer | {"errors": [{"userMessageGlobalisationCode": code}]}
        source.cents -= cents
        target.cents += cents
        self.carried_out.append(body["transferDescription"])
        number = len(self.carried_out)
        day = [int(part) for part in body["transferDate"].split("-")]
        transfer = {"id": 1000 + number, "reversed": False, "transferAmount": cents / 100, "transferDate": day}
        transfer["transferDescription"] = body["transferDescription"]
        for account, kind in ((body["fromAccountId"], "withdrawal"), (body["toAccountId"], "deposit")):
            self.book(account, kind, cents, date=day, transfer=transfer)
        return 200, {"savingsId": body["fromAccountId"], "resourceId": number}

    def book(self, account: str, kind: str, cents: int, **fields: object) -> None:
        """A row of an account's history."""
        rows = self.accounts[account].transactions
        row = {
            "id": sum(len(held.transactions) for held in self.accounts.values()) + 1,
            "transactionType": {"code": f"savingsAccountTransactionType.{kind}", "value": kind.title()},
            "amount": cents / 100,
            "currency": {"code": self.accounts[account].currency},
            "date": [2026, 3, 4],
            "reversed": False,
            "isReversal": False,
        }
        rows.insert(0, row | fields)

    @staticmethod
    def _summary(id_: str, held: Savings) -> Json:
        row = {
            "id": id_,
            "accountNo": "000014000",
            "productName": id_.partition("-")[2],
            "status": {"active": held.active},
            "currency": {"code": held.currency},
            "depositType": {"id": held.deposit},
        }
        return row | ({"accountBalance": held.cents / 100} if held.cents else {})

    def _read(self, path: str) -> tuple[int, Json]:
        parts = path.strip("/").split("/")
        if parts[1] == "clients":
            rows = [self._summary(id_, held) for id_, held in self.accounts.items() if held.client == parts[2]]
            return 200, {"savingsAccounts": rows}
        account = self.accounts.get(parts[2])
        if account is None or account.deposit != 100:
            return 404, {}
        return 200, {"id": parts[2], "clientId": account.client, "transactions": account.transactions}
