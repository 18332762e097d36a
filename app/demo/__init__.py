"""The demonstration: recorded calls played through the running service at real-time pace."""
