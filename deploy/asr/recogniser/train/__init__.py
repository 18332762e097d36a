"""What learns from it: a small model from scratch, or Whisper base fine-tuned."""
