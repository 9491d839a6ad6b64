"""The engine that carries plays: batches, their supervisors, leases, logs and what is left of them."""
