"""The report of a run: one HTML file that needs nothing else, from disk or over HTTP."""
