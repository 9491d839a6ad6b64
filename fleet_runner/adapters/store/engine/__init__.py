"""The database itself: SQLite and PostgreSQL, column types, errors, and bounds on what nodes send."""
