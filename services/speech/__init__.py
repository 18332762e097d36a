"""Speech output: replies prepared for an engine, spoken clause by clause, kept where they repeat."""
