"""fleet-runner signals: what nodes, monitors and networks push, who may push it, and the alarms that it raised."""
