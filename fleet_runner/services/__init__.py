"""What listens: the boot service, signals, health; and HTTP as all of them speak it."""
