"""Calls that are measured: what is said, who hears it, and when."""
