"""What a NetBox is told of nodes: where they are, what happened to them, which parts they have now."""
