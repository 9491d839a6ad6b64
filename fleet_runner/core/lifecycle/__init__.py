"""States and transitions of a node, its runs, and the decision what comes next."""
