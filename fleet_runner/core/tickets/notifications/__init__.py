"""Who is notified of what: which line of the journal concerns a channel, when it is told, and in which words."""
