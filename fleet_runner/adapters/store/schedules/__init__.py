"""What runs by the clock."""
