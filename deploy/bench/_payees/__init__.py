"""The confusion set of payee search: books, callers, strangers, and a telephone that mishears them."""
