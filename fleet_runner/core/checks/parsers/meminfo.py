"""What /proc/meminfo tells, in bytes."""

import re

from fleet_runner.core.base.errors import EvidenceError

_LINE = re.compile(r"^([A-Za-z0-9_()]{1,40}):[ \t]+([0-9]{1,15})(?: kB)?$", re.MULTILINE | re.ASCII)


def parse(text: str) -> dict[str, int]:
    """Return the sizes by their names (counts, such as HugePages_Total, as well); EvidenceError without MemTotal."""
    found = {name: int(value) * (1 if name.startswith("HugePages") else 1024) for name, value in _LINE.findall(text)}
    if not found.get("MemTotal"):
        raise EvidenceError("/proc/meminfo has no MemTotal; was it cut short?")
    return found
