"""Databases and disks that fail around a yes."""
