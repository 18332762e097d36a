"""Open questions: passages of the bank's documents, and a model that may only retell them."""
