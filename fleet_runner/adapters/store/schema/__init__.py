"""The tables, by family."""
