"""Several sentences, clauses and commands in one breath."""
