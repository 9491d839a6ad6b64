"""What sweeps found, told to the source of truth."""
