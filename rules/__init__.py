"""Rules, words and sentences as data, and the loader that validates and hashes them."""
