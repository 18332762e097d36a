"""Two runs and many: what moved, whether it is noise, and what a policy says of it."""
