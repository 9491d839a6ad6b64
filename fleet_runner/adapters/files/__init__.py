"""Files that people or this controller keep: read with every error by its line, written whole or not at all."""
