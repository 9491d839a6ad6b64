"""What a check that remembers saw at its last look: how long ago, and how far counters have moved since."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.json_text import number

DAY = 86_400.0
"""For which a look is the one before: what was seen earlier than that says nothing of what lasts."""


class Earlier(NamedTuple):
    """The last look: seconds ago, and what it observed."""

    seconds: float
    observed: Mapping[str, Any]

    def again(self, *keys: str) -> object:
        """Return what lay under some keys at a look not longer than a day ago."""
        return self.value(*keys) if self.seconds <= DAY else None

    def value(self, *keys: str) -> object:
        """Return what lies under some keys; None where nothing does."""
        found: object = self.observed
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def growth(self, count: float | None, *keys: str) -> float | None:
        """Return by how much a counter grew; one that fell began anew. None where either count is not known."""
        then = number(self.value(*keys))
        if count is None or then is None:
            return None
        return count - then if count >= then else count


def look(expected: Expected, name: str) -> Earlier | None:
    """Return a check's last look; None where there is none, or it lies in the future."""
    known: Any = expected.run.get("before", {}).get(name) or {}
    at, now, observed = number(known.get("at")), number(expected.run.get("now")), known.get("observed")
    if at is None or now is None or at >= now or not isinstance(observed, Mapping):
        return None
    return Earlier(now - at, observed)
