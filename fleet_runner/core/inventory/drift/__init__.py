"""What the fleet observed against what the source of truth says: differences for people to judge, never acted on."""
