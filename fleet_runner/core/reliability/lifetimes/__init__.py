"""How long parts live and nodes serve, from what the store has seen of them."""
