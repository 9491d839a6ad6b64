"""Trends, forecasts, lifetimes of parts, lemons, the value of checks, and the report."""
