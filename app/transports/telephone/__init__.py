"""The telephone's own protocols. Each is a `CallTransport` (line.py), sans I/O, with its server beside it.

`driver` joins any of them with the live call; `playout` paces what is said; whose call it is comes from the bridge's
signed statement (app/auth/statements.py) and from nothing else.
"""
