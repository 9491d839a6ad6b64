"""`smartctl -a` as people print it: the fields that its JSON has, put into that form."""

import re
from typing import Any

from fleet_runner.core.base.errors import EvidenceError

HEAD = re.compile(r"^smartctl \d{1,2}\.\d{1,2} ", re.MULTILINE | re.ASCII)

_MODEL = re.compile(r"^(?:Device Model|Model Number|Product): {1,40}(\S[^\n]{0,79})$", re.MULTILINE)
_SERIAL = re.compile(r"^Serial [Nn]umber: {1,40}(\S{1,40})", re.MULTILINE)
_OVERALL = re.compile(
    r"^SMART (?:overall-health self-assessment test result|Health Status): {1,40}(\w{1,20})", re.MULTILINE
)
_FIELD = re.compile(
    r"^(Critical Warning|Available Spare|Available Spare Threshold|Percentage Used|Media and Data Integrity Errors"
    r"|Unsafe Shutdowns|Temperature): {1,40}(0x[0-9a-fA-F]{2}|[\d,]{1,20})(?:%| Celsius)?[ \t]*$",
    re.MULTILINE | re.ASCII,
)
_ATTRIBUTE = re.compile(
    r"^ {0,2}(\d{1,3}) [A-Za-z][\w/.+-]{1,40} {1,20}(?:0x[0-9a-f]{4}|[POSRCK-]{6}) {1,8}\d{3}"
    r" {1,4}\d{3} {1,4}[\d-]{3}[^\n]{1,60}? (\d{1,15})(?: [^\n]{0,60})?$",
    re.MULTILINE | re.ASCII,
)

NAMES = {
    "Critical Warning": "critical_warning",
    "Available Spare": "available_spare",
    "Available Spare Threshold": "available_spare_threshold",
    "Percentage Used": "percentage_used",
    "Media and Data Integrity Errors": "media_errors",
    "Unsafe Shutdowns": "unsafe_shutdowns",
    "Temperature": "temperature",
}
"""The fields of an NVMe drive's log, by the names that JSON has for them."""

WELL = frozenset({"PASSED", "OK"})


def report(text: str) -> dict[str, Any]:
    """Return one disk's report; EvidenceError where only its own verdict over itself, or less, can be read."""
    overall = _OVERALL.search(text)
    model, serial = _MODEL.search(text), _SERIAL.search(text)
    fields = {NAMES[name]: int(value.replace(",", ""), 0) for name, value in _FIELD.findall(text) if _whole(value)}
    table = [{"id": int(number), "raw": {"value": int(raw)}} for number, raw in _ATTRIBUTE.findall(text)]
    failing = overall is not None and overall[1] not in WELL
    if not failing and "critical_warning" not in fields and not table:
        raise EvidenceError(
            "smartctl printed neither attributes nor an NVMe log of a disk; was it cut short? smartctl -a prints all"
        )
    found: dict[str, Any] = {
        "model_name": model[1].strip() if model else "",
        "serial_number": serial[1] if serial else "",
        "ata_smart_attributes": {"table": table},
    }
    if overall is not None:
        found["smart_status"] = {"passed": not failing}
    if fields:
        found["nvme_smart_health_information_log"] = fields
    return found


def _whole(value: str) -> bool:
    return value.startswith("0x") or value.replace(",", "").lstrip("0").isdigit() or set(value) <= {"0"}
