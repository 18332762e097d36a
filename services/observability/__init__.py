"""Stages, their stamps and their metrics."""
