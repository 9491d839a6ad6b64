"""Rollouts, catalogues, and the driver that brings one node's firmware to its catalogue."""
