"""Clocks, deadlines, and work that must end once begun."""
