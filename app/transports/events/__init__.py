"""The wire's events that a client and a call exchange: what was sent as inputs, and what happened as events."""
