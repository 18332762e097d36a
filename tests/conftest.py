"""Fixtures every room may use."""

from tests.harness.stores import database_url, postgres_server, quick_folder, sqlite_store, sqlite_template, store

__all__ = ["database_url", "postgres_server", "quick_folder", "sqlite_store", "sqlite_template", "store"]
