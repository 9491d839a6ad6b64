"""Results of checks and their evidence."""
