"""`nvme smart-log` as people print it: the fields that its JSON has, put into that form."""

import re
from typing import Any

from fleet_runner.core.base.errors import EvidenceError

HEAD = re.compile(r"^Smart Log for NVME device:(?P<name>[a-z0-9]{1,30}) namespace-id:", re.MULTILINE | re.ASCII)

_FIELD = re.compile(
    r"^(critical_warning|available_spare|available_spare_threshold|percentage_used|media_errors|unsafe_shutdowns)"
    r"[ \t]{0,40}: (0x[0-9a-fA-F]{1,2}|[\d,]{1,40})%?[ \t]*$",
    re.MULTILINE | re.ASCII,
)

NAMES = {
    "critical_warning": "critical_warning",
    "available_spare": "avail_spare",
    "available_spare_threshold": "spare_thresh",
    "percentage_used": "percent_used",
    "media_errors": "media_errors",
    "unsafe_shutdowns": "unsafe_shutdowns",
}
"""The names that JSON has for what the text tells."""


def report(text: str) -> dict[str, Any]:
    """Return one drive's log; EvidenceError where it was cut before the last field that is judged."""
    head = HEAD.search(text)
    fields = {NAMES[name]: _number(value) for name, value in _FIELD.findall(text)}
    if head is None or len(fields) < len(NAMES):
        missing = ", ".join(name for name, told in NAMES.items() if told not in fields)
        raise EvidenceError(f"nvme smart-log does not report {missing or 'its device'}; was it cut short?")
    return {"device": {"name": f"/dev/{head['name']}"}, **fields}


def _number(value: str) -> int:
    """Older versions print the warning's bits as "0x4", newer ones as "0" and "4"."""
    return int(value, 16) if value.startswith("0x") else int(value.replace(",", "") or "0")
