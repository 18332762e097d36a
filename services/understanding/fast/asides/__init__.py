"""What is said beside an order: what forbids a meaning, reasons, background."""
