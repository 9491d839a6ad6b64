"""Commands of the simulated data centre."""
