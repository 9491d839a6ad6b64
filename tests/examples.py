"""How many examples a property test draws: as many as it says, and in CI a share of them, others in each run."""

import os

from hypothesis import HealthCheck

OF_A_HUNDRED = int(os.environ.get("FLEET_EXAMPLES", "100"))
"""So many are drawn of a hundred, and so many by a test that says nothing."""

UNHURRIED = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
"""How long it takes to draw examples says how busy the computer is; a fixture that all of them share is meant so."""


def examples(full: int) -> int:
    """What is drawn of so many, at least five."""
    return max(5, full * OF_A_HUNDRED // 100)
