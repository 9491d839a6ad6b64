"""What should be: the records of the source of truth, and what a NetBox is told."""
