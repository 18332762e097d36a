"""Simulated callers: whole calls by sentences that people said, over a running service."""
