"""What Ethernet switches say of their own ports: one module for each network operating system."""
