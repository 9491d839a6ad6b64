"""What happens by the clock: at which moments, for whom, and what becomes of moments that nobody saw to."""
