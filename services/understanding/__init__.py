"""From words to meaning: the deterministic path (`fast`), and the small model for what it leaves open (`extract`)."""
