"""What follows from a kind of fault: built-in rules, and those of the policy file."""
