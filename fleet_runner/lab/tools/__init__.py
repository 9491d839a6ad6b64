"""What runs in the place of a node's tools: quick to start, and printing what the real ones print."""
