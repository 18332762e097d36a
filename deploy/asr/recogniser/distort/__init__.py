"""What becomes of it on the way: rooms, noise, lines, other larynges, as sound and as log-mel."""
