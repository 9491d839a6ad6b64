"""Sessions of browsers, and who asked what."""
