"""What flows through tellerline: frozen, typed values without I/O."""
