"""A yes or a no: proven by a grammar that takes every word."""
