"""Flashes, leases on a node's firmware, BIOS settings, rollouts."""
