"""The parts of extraction by a model: what may be chosen, how it is asked, how the answer is read."""
