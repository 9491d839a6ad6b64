"""Cables as designed against cables as plugged: what differs, why, and the fewest touches that put it right."""
