"""A recogniser of our own: from sentences to the weights that ship, a folder for each step."""
