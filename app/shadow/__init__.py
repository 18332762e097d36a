"""A shadow: what a recorded call says goes to another pipeline too, in a process beside; what differs is kept.

The other has another recogniser, other rules, another endpoint of the small model, or is another tree altogether. It
has no key, no database and no bank: each call is open there at a bank of its own, with its caller's facts.
"""
