"""The one loop that moves nodes: read what is known, decide, act. Run it twice and nothing more happens."""
