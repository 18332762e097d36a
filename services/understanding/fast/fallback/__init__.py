"""Words that no template takes: frauds, questions, cards, goodbyes, what the last words ask for, and where they go."""
