"""Which device types are tested in service."""
