"""The shared libraries that `ldconfig -p` finds in the linker's cache."""

import re

from fleet_runner.core.base.errors import EvidenceError

_HEAD = re.compile(r"([0-9]{1,6}) libs found in cache", re.ASCII)
_LIBRARY = re.compile(r"^\t(\S{1,100}) \(", re.MULTILINE)


def parse(text: str) -> frozenset[str]:
    """Return their names ("libcuda.so.1"); EvidenceError for a list that is shorter than it says."""
    head, _, rest = text.partition("\n")
    count = _HEAD.match(head)
    rows = _LIBRARY.findall(rest.rpartition("\n")[0] + "\n")
    if count is None or len(rows) < int(count[1]):
        raise EvidenceError(f"ldconfig printed {head!r:.80} and {len(rows)} libraries; was it cut short?")
    return frozenset(rows)
