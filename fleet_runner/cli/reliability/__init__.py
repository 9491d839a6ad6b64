"""Commands about trends and the report."""
