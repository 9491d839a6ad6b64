"""A real NetBox on this computer, for the demo and for tests: installed, migrated once, then started in seconds."""
