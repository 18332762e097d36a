"""The core banks behind the ledger."""
