"""NetBox: what it is told, what is pushed and prepared there, and what people ask in its pages."""
