"""Words that no template takes: questions, cards, goodbyes, and where they go."""
