"""What trends, lemons, lifetimes and reports are made of."""
