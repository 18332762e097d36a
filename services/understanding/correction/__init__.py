"""What the caller corrects in one breath, and how the later words take the earlier ones' place."""
