"""What a NetBox needs before fleet-runner works with it, and what is to be done for it in one that has some of it."""
