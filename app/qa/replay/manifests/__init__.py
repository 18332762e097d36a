"""Which recordings to replay, and what should have happened: in every shape that others write."""
