"""Tools for quality assurance: the text path, replay and benchmarks."""
