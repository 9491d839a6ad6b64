"""Nodes, their history, machines and intents, and decisions carried out as a whole."""
