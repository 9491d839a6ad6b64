"""The loop around a tick: its context, heartbeat, single instance, leader, and shutdown."""
