"""What a turn and a run are worth: right and wrong, scores, why turns fail, which rules were reached."""
