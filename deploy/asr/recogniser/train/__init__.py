"""Whisper base, fine-tuned: what is heard and taught in turn, and the weights as they change."""
