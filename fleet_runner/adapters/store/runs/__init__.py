"""Runs, the batches that carry them, and the runners that carry batches."""
