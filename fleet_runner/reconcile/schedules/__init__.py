"""What comes by the clock, and retention."""
