"""What is said: sentences of the grammar, how they are spelt, and how an engine reads them."""
