"""Why a job died or slowed: what is known of its nodes and its time, and what it says itself, to one answer."""
