"""What the store does for the question why a job ended."""
