"""Templates and how words match them: units, lattices, trees, automata. They know no rules file."""
