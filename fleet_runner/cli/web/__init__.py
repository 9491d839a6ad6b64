"""fleet-runner web: pages, the API and metrics, and who may see what."""
