"""The policy as its file has it, remedies, and what does not wait for the end of a tick."""
