"""Resetting GPUs and restarting services: what is to be done on a node, and what came of it."""
