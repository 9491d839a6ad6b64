"""fleet-runner bmc and profile: a look at any BMC, and the profile that its answers would make."""
