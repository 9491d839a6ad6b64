"""Commands about how much automation may do."""
