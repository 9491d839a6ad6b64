"""Commands about faults, the policy, and signals."""
