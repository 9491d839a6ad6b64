"""Errors, and text that is safe and natural to read."""
