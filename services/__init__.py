"""One folder a room; `pipeline.py` joins the stages, `ports.py` is what they need from outside."""
