"""What labels may say, corrections to them, and what is wrong with a manifest."""
