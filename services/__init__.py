"""One folder a stage, named for what it does; `turn.py` joins them."""
