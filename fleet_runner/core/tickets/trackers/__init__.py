"""Tickets elsewhere: what a tracker has to be told of a ticket, in its own form, and when."""
