"""Recordings as sound: read from any container, what they are like, who speaks when."""
