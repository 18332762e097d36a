"""How well it hears: test audio, and scores while it trains."""
