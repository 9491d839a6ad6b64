"""Migration, backup, copy, pruning, size and ownership of a store."""
