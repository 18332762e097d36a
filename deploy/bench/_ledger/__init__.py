"""What moving money takes, apart from a bank's core."""
