"""WS /v1/realtime: a live call from a client of the OpenAI Realtime API, unmodified.

`protocol` is what is said both ways, sans I/O, over `settings`, `items` and `ladder`; `door` is its routes.
"""
