"""How many examples a property test draws: as many as it says, and in CI a share of them, others in each run."""

import os

OF_A_HUNDRED = int(os.environ.get("FLEET_EXAMPLES", "100"))
"""So many are drawn of a hundred, and so many by a test that says nothing."""


def examples(full: int) -> int:
    """What is drawn of so many, at least five."""
    return max(5, full * OF_A_HUNDRED // 100)
