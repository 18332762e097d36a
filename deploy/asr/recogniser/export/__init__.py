"""What travels to the machine that trains, and what ships: weights, heads, the language model beside them."""
