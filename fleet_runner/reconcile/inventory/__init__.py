"""Nodes registered from the source of truth, and a NetBox that is told."""
