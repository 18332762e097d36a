"""The desk: people of QA list recorded calls, hear them, review what was decided, and make tests of turns."""
