"""fleet-runner db: the store's size, its schema, its copies."""
