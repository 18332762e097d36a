"""Tools for quality assurance: replay, labels, the desk, and the doctor of what runs."""
