"""What short commands read of a SQLite store, without SQLAlchemy: loading that would take half of their time.

`queries` is generated: the SQL that the Store itself sends, as `recording` sees it. So there is one truth of schema
and queries; `make docs-check` and a test find a copy that is old.
"""
