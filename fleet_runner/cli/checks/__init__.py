"""Commands about checks, their results and their evidence."""
