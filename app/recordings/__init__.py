"""Recording a live call, where the caller agreed: a folder that `tellerline label from-recording` makes a test of.

The folder holds `recording.json` (RecordingHead) and, sealed, a RecordedTurn and a FLAC file a turn. Keyed digits,
spoken codes and account numbers are withheld, sound and words alike. Recording is two decorators, so the call itself
knows nothing of it: the recogniser's keeps the samples of every final decode, the handler's says what became of them.
"""
