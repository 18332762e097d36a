"""Examining a model endpoint: what it really does, beside what its configuration says. Warms it on the way."""
