"""Replay: recorded utterances and calls through the same pipeline, scored, compared and shown.

manifest → readers/audio → run (pool, journal) → judge → score → diff / report. `record` is what one turn leaves behind.
"""
