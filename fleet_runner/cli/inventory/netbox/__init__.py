"""fleet-runner netbox: the source of truth as a server that a site already has."""
