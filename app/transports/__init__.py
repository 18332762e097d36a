"""How callers reach the service: a door a protocol, over `live`, a call's line, and `events`, what goes over it."""
