"""Recordings played: in process, over a running gateway, whole calls, two pipelines at once."""
