"""What a BMC says of its firmware: one entry per image, whatever its vendor calls them."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.errors import EvidenceError

ABSENT = frozenset({"not present", "absent"})
"""Versions, and a status, that say that there is no such part (Supermicro)."""

UNTOLD = frozenset({"", "-", "n/a", "na", "none", "null", "unknown", "not available"})
"""Versions that say that the BMC does not know: they are not drift."""

ASIDE = frozenset({"backup", "golden", "staging", "previous", "available", "pending"})
"""First or last words of ids of images that lie in the BMC and do not run, of whatever vendor."""

_DELL = re.compile(r"(Current|Installed|Previous|Available)-(?:(\w+)-)?(?:.*?)__(.+)")
"""Dell's ids: what became of the image, its software id, its version, and the part; the version changes."""

_OLD_DELL = re.compile(r"(Current|Installed|Previous|Available)-(\d*[1-9]\d*)-.+")
"""Those of older iDRACs, without the part; a software id of 0 tells nothing."""

_WORDS = re.compile(r"[_\-. ]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Entry:
    """One image. `id` stays the same over updates; `version` is "" where the BMC does not tell it.

    `segment` is the last segment of the URI, which catalogues speak of; only Dell's ids differ from it.
    """

    id: str
    uri: str
    version: str
    updateable: bool | None = None
    software_id: str = ""
    manufacturer: str = ""
    name: str = ""
    absent: bool = False

    @property
    def segment(self) -> str:
        """Return the last segment of the URI."""
        return _segment(self.uri)


def entries(bodies: Mapping[str, Mapping[str, Any]]) -> dict[str, Entry]:
    """Return every entry by its id; EvidenceError where two have one id, for then no version is certain."""
    found: dict[str, Entry] = {}
    named = Counter(lasting(uri) for uri in bodies)
    for uri, body in bodies.items():
        alike = named[lasting(uri)] > 1 and _OLD_DELL.fullmatch(_segment(uri))  # disks of one model, say
        entry = _entry(uri, _segment(uri) if alike else lasting(uri), body)
        if (other := found.setdefault(entry.id, entry)) is not entry:
            raise EvidenceError(f"the BMC's firmware inventory has {entry.id} twice: {other.uri} and {uri}")
    return found


def running(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries that run: no backup, golden, staging or previous image, and no part that is absent."""
    return {
        entry.id: entry
        for entry in entries.values()
        if not entry.absent
        and entry.version.lower() not in ABSENT
        and not _aside(entry.id)
        and not (entry.id.startswith("Current-") and f"Installed-{entry.id.removeprefix('Current-')}" in entries)
    }


def _entry(uri: str, name: str, body: Mapping[str, Any]) -> Entry:
    status, updateable = body.get("Status"), body.get("Updateable")
    version = _text(body, "Version")
    return Entry(
        id=name,
        uri=uri,
        version="" if version.lower() in UNTOLD else version,
        updateable=updateable if isinstance(updateable, bool) else None,
        software_id=_text(body, "SoftwareId"),
        manufacturer=_text(body, "Manufacturer"),
        name=_text(body, "Name"),
        absent=isinstance(status, Mapping) and status.get("State") == "Absent",
    )


def lasting(uri: str) -> str:
    """Return the id of an entry at a URI: its last segment, without the version that Dell writes into it."""
    segment = _segment(uri)
    if dell := _DELL.fullmatch(segment):
        return "-".join(part for part in dell.group(1, 2) if part) + f"__{dell[3]}"
    old = _OLD_DELL.fullmatch(segment)
    return f"{old[1]}-{old[2]}" if old else segment


def _aside(name: str) -> bool:
    words = _WORDS.split(name)
    return words[0].lower() in ASIDE or words[-1].lower() in ASIDE


def _segment(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2]


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    return _marked(value.strip()) if isinstance(value, str) else ""


def _marked(text: str) -> str:
    """Mark what no terminal may see; were it taken out, a version that is wrong could read as the right one."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
