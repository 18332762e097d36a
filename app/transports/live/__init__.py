"""A live call's line, whatever is spoken on it: what it is given, how long it may go on, and its sound."""
