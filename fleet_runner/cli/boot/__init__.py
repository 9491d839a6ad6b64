"""fleet-runner boot: what nodes boot from over the network, and what the boot service has seen."""
