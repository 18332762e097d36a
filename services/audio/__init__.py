"""From bytes to turns: decoding, resampling, voice activity, endpointing. Sans I/O, apart from the shared VAD model."""
