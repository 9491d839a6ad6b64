"""A BMC of anybody's, looked at by itself: what is read, what it says, and which profile its answers would make."""
