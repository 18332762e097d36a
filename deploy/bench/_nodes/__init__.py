"""A service on Ray with several nodes."""
