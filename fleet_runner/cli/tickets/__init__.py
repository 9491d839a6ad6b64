"""Commands about tickets, RMA and notifications."""
