"""Trials of what is deployed, where no container engine runs."""
