"""Walls between customers: what touches a customer's data takes the customer first, and B never shows in A."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import sqlalchemy as sa

import services.banking.banks.tables
import services.banking.tables
from schemas.banking import TransactionFilter
from schemas.errors import TellerlineError
from schemas.ids import CallId, PayeeId
from schemas.money import Money
from services.banking.cards import BankCards
from services.store import Store
from tests.harness.money import ANN, BOB, CALL, House, build, open_bank, order
from tests.harness.rows import tamper

ROOT = Path(__file__).parents[2]
ROOMS = ("services/banking", "services/record/audit.py")
PORTS = {"CoreBank", "Ledger", "StepUp", "CardDesk", "AuditLog", "Extractor", "Answerer"}
TABLES = {"transfers", "spending", "challenges", "customers", "accounts", "postings", "entries", "payees",
          "gone_payees", "cards", "bills", "limits", "wire_keys", "records", "seeds"}  # fmt: skip
STATEMENTS = {"select", "insert", "update", "delete", "insert_new"}
ACROSS = {
    "services/banking/transfers.py:due": "the reconciler's worklist: ids alone, each then handled as its customer's",
    "services/banking/transfers.py:expire": "closes what is over, whoever's it is",
    "services/banking/outbox.py:claim": "marks what goes on record, each row with its customer's id",
    "services/banking/banks/sandbox.py:books": "checks sums over all accounts",
    "services/banking/banks/seed.py:_rows": "turns the demo's files into rows, each with its customer's id",
    "services/banking/banks/seed.py:_add": "takes a whole demo customer",
    "services/banking/banks/seed.py:_book": "takes a whole demo customer",
    "services/banking/directory_import.py:_present": "takes some households of a file, each with its customer's id",
    "services/banking/directory_import.py:_write": "writes rows that each come with their customer's id",
    "services/record/audit.py:_chain": "takes records that each come with their customer",
    "services/record/audit.py:_sealed": "takes the customer's pseudonyms, which its caller made",
    "services/record/audit.py:forget": "what was said on a day is forgotten, whoever said it",
    "services/record/audit.py:_seed": "takes the customer's pseudonym, which its caller made",
    "services/record/audit.py:days_by_key": "counts days by the key that they are under, and names nobody",
    "services/record/audit.py:_batch": "verification walks the whole chain",
}
"""What looks across customers, and why it may."""


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods; what is nested in one is part of it."""
    tree = ast.parse(path.read_text())
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        for node in scope.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def touches_rows(function: ast.FunctionDef | ast.AsyncFunctionDef, prepared: set[str]) -> bool:
    """Whether a function builds a statement over a table that holds customers' data, or uses a prepared one."""
    names = {_name(node) for node in ast.walk(function) if isinstance(node, ast.Attribute | ast.Name)}
    return bool(names & prepared) or _builds(function)


def _builds(tree: ast.AST) -> bool:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    builds = any(_name(call) in STATEMENTS for call in calls if isinstance(call, ast.Attribute | ast.Name))
    return builds and any(
        isinstance(node, ast.Attribute | ast.Name) and _name(node) in TABLES for node in ast.walk(tree)
    )


def prepared_statements(module: ModuleType) -> dict[str, sa.Executable]:
    """Statements that a module builds once, by name."""
    return {name: value for name, value in vars(module).items() if isinstance(value, sa.Executable)}


def module_of(path: Path) -> ModuleType:
    return import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def takes_customer_first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """The first parameter after `self` is `customer`, or the whole value that names one."""
    named = [argument for argument in function.args.args if argument.arg not in {"self", "cls"}]
    if not named or named[0].annotation is None:
        return False
    first = ast.unparse(named[0].annotation)
    return named[0].arg == "customer" and first == "CustomerId"


def sources() -> Iterator[Path]:
    for room in ROOMS:
        target = ROOT / room
        yield from sorted(target.rglob("*.py")) if target.is_dir() else [target]


def test_every_query_takes_its_customer_first() -> None:
    found, strangers = 0, []
    for path in sources():
        place = str(path.relative_to(ROOT))
        prepared = set(prepared_statements(module_of(path)))
        for function in functions(path):
            if not touches_rows(function, prepared) or f"{place}:{function.name}" in ACROSS:
                continue
            found += 1
            if not takes_customer_first(function):
                strangers.append(f"{place}:{function.name}")
    assert found > 30
    assert not strangers


def test_every_prepared_statement_names_its_customer() -> None:
    seen = 0
    for path in sources():
        for name, statement in prepared_statements(module_of(path)).items():
            seen += 1
            text = str(statement)
            assert "customer_id = :customer" in text or "VALUES (:customer" in text, f"{path.name}:{name}"
    assert seen > 5


def test_every_port_that_serves_a_customer_takes_the_customer_first() -> None:
    tree = ast.parse((ROOT / "services/ports.py").read_text())
    checked = 0
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in PORTS:
            for method in node.body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    checked += 1
                    assert takes_customer_first(method), f"{node.name}.{method.name}"
    assert checked > 20


def test_every_table_of_customers_says_whose_a_row_is() -> None:
    own = {"bank_customers": "id", "bank_entries": "account_id"}
    for module in (services.banking.tables, services.banking.banks.tables):
        for table in vars(module).values():
            if isinstance(table, sa.Table):
                column = table.c[own.get(table.name, "customer_id")]
                assert not column.nullable


async def everything(house: House) -> str:
    """All that Ann can see, as text."""
    bank, ledger = house.bank, house.ledger
    seen = [
        await bank.profile(ANN), await bank.payees(ANN), await bank.transactions(ANN, TransactionFilter(limit=50)),
        await ledger.open_proposal(ANN), await house.step_up.waiting(ANN),
        *[await bank.payee(ANN, payee.id) for payee in await bank.payees(ANN)],
        *[await bank.verify_payee(ANN, payee.id) for payee in await bank.payees(ANN)],
    ]  # fmt: skip
    return repr(seen)


async def test_changing_one_customer_leaves_the_others_bytes_alone(store: Store) -> None:
    await open_bank(store)
    house = build(store)
    await house.proposed(order())
    before = await everything(house)
    payees, accounts, limits = (
        sa.update(table).where(table.c.customer_id == BOB)
        for table in (
            services.banking.banks.tables.payees,
            services.banking.banks.tables.accounts,
            services.banking.banks.tables.limits,
        )
    )
    other = {"name": "Somebody Quite Else"}
    await tamper(store, payees.values(other), accounts.values(other), limits.values(per_transfer=1, per_day=1))
    bobs = order(10, source="bob-savings", payee_id=None, to_account="bob-checking", amount=Money(1, "USD"))
    proposal = await house.ledger.propose(BOB, CALL, bobs)
    await house.ledger.delivered(BOB, CALL, proposal.id)
    await house.ledger.confirm(BOB, CALL, proposal.id, proposal.seal)
    await house.step_up.begin(BOB, "card:bob-card")
    await house.bank.set_card_lock(BOB, "bob-card", locked=True)  # type: ignore[arg-type] # an id
    await house.ledger.void(BOB, CALL)
    assert await everything(house) == before


@pytest.mark.parametrize("kind", ["source", "target", "bill", "payee", "card"])
async def test_what_is_anothers_can_not_be_named(sqlite_store: Store, kind: str) -> None:
    await open_bank(sqlite_store)
    house = build(sqlite_store)
    payees = services.banking.banks.tables.payees
    mine, kim = payees.c.customer_id == BOB, payees.c.id == "kim"
    await tamper(sqlite_store, sa.update(payees).where(mine & kim).values(id="bobs-kim"))
    attempts = {
        "source": lambda: house.ledger.propose(ANN, CALL, order(source="bob-checking")),
        "target": lambda: house.ledger.propose(ANN, CALL, order(payee_id=None, to_account="bob-checking")),
        "bill": lambda: house.ledger.propose(ANN, CALL, order(payee_id="power", bill_id="bob-power")),
        "payee": lambda: house.ledger.propose(ANN, CALL, order(payee=PayeeId("bobs-kim"))),
        "card": lambda: BankCards(house.bank, house.step_up).lock(ANN, "bob-card"),  # type: ignore[arg-type] # an id
    }
    with pytest.raises(TellerlineError):
        await attempts[kind]()
    assert await house.ledger.resume(ANN, CallId("call-3")) is None
