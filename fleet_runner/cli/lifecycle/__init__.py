"""Commands that serve, show nodes, and ask for something to be done with one."""
