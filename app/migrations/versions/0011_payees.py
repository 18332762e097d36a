"""The last versions of payees that were removed, and whom a key of a foreign core pays."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Of payees that were removed before, and of keys, what the ledger has of them is known."""
    op.add_column("bank_wire_keys", sa.Column("payee_id", sa.String(length=128), nullable=True))
    op.add_column("bank_wire_keys", sa.Column("merchant", sa.String(length=200), nullable=False, server_default=""))
    op.create_index("ix_bank_wire_keys_customer_id", "bank_wire_keys", ["customer_id"])
    op.execute(
        "UPDATE bank_wire_keys SET payee_id = (SELECT sent.payee_id FROM ledger_transfers AS sent"
        " WHERE sent.bank_key = bank_wire_keys.key AND sent.customer_id = bank_wire_keys.customer_id)"
    )
    op.execute(
        "UPDATE bank_wire_keys SET merchant = coalesce((SELECT paid.name FROM bank_payees AS paid"
        " WHERE paid.id = bank_wire_keys.payee_id AND paid.customer_id = bank_wire_keys.customer_id), '')"
    )
    op.create_table(
        "bank_gone_payees",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("customer_id", "id", name=op.f("pk_bank_gone_payees")),
    )
    op.execute(
        "INSERT INTO bank_gone_payees (customer_id, id, version)"
        " SELECT customer_id, payee_id, max(payee_version) FROM ledger_transfers AS sent WHERE payee_id IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM bank_payees WHERE customer_id = sent.customer_id AND id = sent.payee_id)"
        " GROUP BY customer_id, payee_id"
    )
