"""Network boots: armed, their steps, refusals and heartbeats, and machines that nobody knows."""
