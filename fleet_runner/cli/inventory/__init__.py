"""Commands about the source of truth."""
