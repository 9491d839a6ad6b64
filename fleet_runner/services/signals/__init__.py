"""What nodes, monitors and networks push is taken here: over HTTP and syslog, into alarms of the store."""
