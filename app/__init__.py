"""The process: the only place that knows FastAPI, settings and the composition of the parts."""
