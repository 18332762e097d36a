"""The rules files of a language, by their shapes, and what they are compiled to."""
