"""`ipmitool sel list` and `elist`: the event log of a BMC, put into the form in which Redfish tells it.

A line is `  3d | 10/02/2025 | 17:33:30 | Memory DIMM A3 | Uncorrectable ECC | Asserted`; a reading may
stand at its end, and newer versions tell the clock as `05:33:30 PM UTC`. IPMI tells no severity: what an entry means
is for the rules of the check `sel`.
"""

import re
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.base.errors import EvidenceError

LOG = "/redfish/v1/SEL"
URI = f"{LOG}/Entries"

MOST = 20_000
"""More entries than any BMC keeps."""

LIKE = re.compile(
    r"^[ \t]{0,8}[0-9a-fA-F]{1,4} \|[^|\n]{1,40}\|[^|\n]{1,40}\|[^\n]{1,300}\|[^\n]{1,300}$", re.MULTILINE
)
"""What looks like a line of a log."""

LINE = re.compile(
    r"^[ \t]{0,8}(?P<id>[0-9a-fA-F]{1,4}) \| {1,2}(?P<day>\d\d/\d\d/\d{2,4}|Pre-Init) {1,2}\| ?"
    r"(?P<clock>[\d:]{1,12}(?: [AP]M)?)(?: [A-Z]{2,5})? ?\| (?P<sensor>[^|\n]{1,80}?) "
    r"\| (?P<event>(?:[^|\n]|\|(?=[^|(\n]{0,80}\))){1,200}?)"
    r" ?(?:\| (?P<way>Asserted|Deasserted)[^\n]{0,200})?[ \t]*$",
    re.MULTILINE | re.ASCII,
)

HARMLESS = re.compile(
    r"presence detected|\bpresent\b|fully redundant|boot completed|initiated|clock sync|log area reset|log cleared"
    r"|S0/G0|working|OEM system boot|\bUnknown\b|limit not exceeded|power (?:on|off|cycle|reset)|state deasserted"
    r"|added|enabled|transition to (?:OK|running|on line|active)|installed|System Restart",
    re.IGNORECASE,
)
"""Events that say that something is there, was switched or began."""

NUMBERED = re.compile(r" #0x[0-9a-fA-F]{2}$")


def entries(text: str) -> dict[str, Any]:
    """Return the log as a Redfish collection with its entries; EvidenceError for a text without one."""
    found = [_entry(match) for match in LINE.finditer(text)][:MOST]
    if not found:
        raise EvidenceError(
            "ipmitool sel: there is no entry, expected lines such as `1 | 10/02/2025 | 17:33:30 | ...`"
        )
    return {URI: collection(found)}


def collection(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a log's entries as Redfish has them."""
    return {"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": entries}


def _entry(found: re.Match[str]) -> dict[str, Any]:
    sensor, event = found["sensor"].strip(), found["event"].strip()
    ends = found["way"] == "Deasserted"
    message = event if not ends else f"{event} (Deassertion event)"
    quiet = HARMLESS.search(event) is not None and "uncorrect" not in event.lower()
    return {
        "Id": found["id"].lower(),
        "Created": created(found["day"], found["clock"]),
        "Severity": "OK" if quiet else "Warning",
        "EntryCode": "Deassert" if ends else "Assert",
        "SensorType": NUMBERED.sub("", sensor),
        "MessageId": event,
        "Message": message,
        "MessageArgs": [sensor],
    }


def created(day: str, clock: str) -> str:
    """Return an ISO time, "" for one that was written before the BMC's clock was set."""
    hours = "%I:%M:%S %p" if clock.endswith("M") else "%H:%M:%S"
    for form in (f"%m/%d/%Y {hours}", f"%m/%d/%y {hours}"):
        try:
            return datetime.strptime(f"{day} {clock}", form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return ""
