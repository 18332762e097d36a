"""What strangers do to a service, and what honest callers feel of it."""
