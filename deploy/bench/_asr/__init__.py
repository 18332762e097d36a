"""How the recogniser is measured: test sounds, scores, speed."""
