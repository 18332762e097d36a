"""Answers to a read-back, spoken, and what came of them."""
