"""How far a NetBox is told, and what people ask in its pages."""
