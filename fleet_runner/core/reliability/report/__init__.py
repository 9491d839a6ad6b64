"""The report of a week: from rows of the store to figures, and from figures to words and pictures."""
