"""What a replayed turn and a run leave behind, and what a recorded call left."""
