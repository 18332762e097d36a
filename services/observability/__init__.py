"""Stages, their stamps and their metrics."""

from services.observability.metrics import Metrics, Stamp, Stamps

__all__ = ["Metrics", "Stamp", "Stamps"]
