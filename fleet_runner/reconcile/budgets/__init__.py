"""What a tick may still spend."""
