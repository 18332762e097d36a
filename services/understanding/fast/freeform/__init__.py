"""An order or its parts in words of no template."""
