"""What `uptime -s` says, with TZ=UTC: the second at which the kernel started."""

import re
from datetime import UTC, datetime

from fleet_runner.core.base.errors import EvidenceError


def parse(text: str) -> float:
    """Return the boot time in seconds since the epoch, on the node's own clock."""
    stamp = text.strip()
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", stamp):
        try:
            return datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()
        except ValueError:
            pass
    raise EvidenceError(f"uptime -s printed {stamp!r:.60}, expected a time like '2025-03-01 09:30:00'")
