"""The control loop and what is around it: its context, heartbeat, single instance, leader, and shutdown."""
