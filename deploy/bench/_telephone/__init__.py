"""Calls by a telephone's protocol."""
