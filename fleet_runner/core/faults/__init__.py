"""What faults are, which remedy follows, and the alarms that signals raise."""
