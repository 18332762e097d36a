"""A template's match as a meaning, and what becomes of the words around it."""
