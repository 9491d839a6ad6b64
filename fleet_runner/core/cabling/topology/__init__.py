"""A fabric to look at: its layers and links, and where it is not as designed."""
