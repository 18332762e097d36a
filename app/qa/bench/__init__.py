"""Benchmarks, one module each: `tellerline bench NAME` runs its `bench` function. Keys carry their units."""
