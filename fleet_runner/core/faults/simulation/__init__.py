"""What a policy would have done: stored history, replayed in virtual time through the real decisions."""
