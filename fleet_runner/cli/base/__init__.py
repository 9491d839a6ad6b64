"""What commands share: the session, logs, and whether they ask a store or a server."""
