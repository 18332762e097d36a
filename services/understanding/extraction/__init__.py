"""Extraction by a small model: what may be chosen, how it is asked, how the answer is read, what of it counts."""
