"""A NetBox is told of nodes beside the work: fields, journals and serial numbers, each in its own time."""
