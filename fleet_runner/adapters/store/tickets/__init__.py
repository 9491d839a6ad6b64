"""Tickets, RMA cases, the outbox, trackers and notification channels."""
