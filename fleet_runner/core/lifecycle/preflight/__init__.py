"""What is proven before anything is done to a node: that it is this very machine, and that its work has ended."""
