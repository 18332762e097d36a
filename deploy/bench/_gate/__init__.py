"""Faults and harmless changes, put one at a time into a copy of everything, to see what replay's gate says of them."""
