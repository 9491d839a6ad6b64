"""The way of nodes from their first boot into production: what they waited for, and what would shorten it."""
