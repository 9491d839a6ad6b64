"""What nodes, monitors and networks push: signals, and the alarms that they raise."""
