"""What somebody needs who works with their hands: where to stand, what to move, what proves it done."""
