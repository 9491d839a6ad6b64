"""What devices hear of each other over LLDP, in the form of each maker: a module for each, `capture` chooses."""
