"""The boot service: gives nodes that are expected to boot now what they need, and everyone else nothing."""
