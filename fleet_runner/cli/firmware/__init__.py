"""fleet-runner firmware: catalogues, what would be sent to a node, its flashes, and rollouts to many nodes."""
