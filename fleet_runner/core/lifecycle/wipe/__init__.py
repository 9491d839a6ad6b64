"""Erasing everything on a node: which devices are its own, by which means each is erased, and what proves it."""
