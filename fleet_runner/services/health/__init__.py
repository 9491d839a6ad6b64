"""What tells others whether a runner lives and can work: pages over HTTP, and systemd's watchdog."""
