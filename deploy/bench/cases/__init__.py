"""Conversations, sentences and answers that are data, and what plays and judges them; tests play them too."""
