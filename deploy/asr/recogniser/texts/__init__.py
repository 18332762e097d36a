"""What is said: sentences of the grammar, how they are spelt, and in which phones."""
