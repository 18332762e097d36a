"""Replay: recorded utterances and calls through the same pipeline, scored, compared and shown.

manifests, sound → playing → records → judging → comparing → report; `command` is all of it in one call.
"""
