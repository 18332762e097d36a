"""How the learned reader is made: what it learns from, and the arithmetic. The product never imports it."""
