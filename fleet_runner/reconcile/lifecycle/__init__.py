"""What a decision is made from, its batches, and what they say."""
