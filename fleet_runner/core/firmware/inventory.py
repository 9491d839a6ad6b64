"""What a BMC says of its firmware: one entry per image, whatever its vendor calls them."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError

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

_HASHED = re.compile(r"[0-9a-f]{8}")
"""OpenBMC's ids: the beginning of a hash of the version, so that each update brings an entry of another id."""

_RUNS = frozenset({"", "Enabled"})
"""States of such an image that may run; the others stand by, or are about to be."""

_WORDS = re.compile(r"[_\-. ]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Entry:
    """One image. `id` stays the same over updates; `version` is "" where the BMC does not tell it.

    `segment` is the last segment of the URI, which catalogues speak of; only Dell's and OpenBMC's ids differ from it.
    One that is `spare` is kept beside the one that runs.
    """

    id: str
    uri: str
    version: str
    updateable: bool | None = None
    software_id: str = ""
    manufacturer: str = ""
    name: str = ""
    absent: bool = False
    spare: bool = False

    @property
    def segment(self) -> str:
        """Return the last segment of the URI."""
        return _segment(self.uri)


def entries(bodies: Mapping[str, Mapping[str, Any]]) -> dict[str, Entry]:
    """Return every entry by its id; EvidenceError where two have one id, for then no version is certain."""
    found: dict[str, Entry] = {}
    named = Counter(lasting(uri) for uri in bodies)
    running = _running(bodies)
    for uri, body in bodies.items():
        alike = named[lasting(uri)] > 1 and _OLD_DELL.fullmatch(_segment(uri))  # disks of one model, say
        name = running.get(uri) or (_segment(uri) if alike else lasting(uri))
        entry = _entry(uri, name, body, spare=uri not in running and bool(about(uri, body)))
        if (other := found.setdefault(entry.id, entry)) is not entry:
            raise EvidenceError(f"the BMC's firmware inventory has {entry.id} twice: {other.uri} and {uri}")
    return found


def running(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries that run: no backup, golden, staging or previous image, and no part that is absent."""
    return {
        entry.id: entry
        for entry in entries.values()
        if not (entry.absent or entry.spare)
        and entry.version.lower() not in ABSENT
        and not _aside(entry.id)
        and not (entry.id.startswith("Current-") and f"Installed-{entry.id.removeprefix('Current-')}" in entries)
    }


def about(uri: str, body: Mapping[str, Any]) -> str:
    """Return the resource that an image of OpenBMC's is for; "" where its id stays, or it does not say."""
    related = body.get("RelatedItem")
    first = related[0] if isinstance(related, list) and related else None
    named = first.get("@odata.id") if isinstance(first, Mapping) and hashed(uri) else None
    return named.rstrip("/") if isinstance(named, str) and _segment(named) else ""


def hashed(uri: str) -> bool:
    """Whether the id at the end of a URI is the hash of a version."""
    return _HASHED.fullmatch(_segment(uri)) is not None


def _running(bodies: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the images of OpenBMC's that run, by their URIs, with the ids that stay: "bmc" of Managers/bmc.

    Where none says that it is active, or that it is not, all that do not stand by may run.
    """
    found: dict[str, str] = {}
    for uri, body in bodies.items():
        active = body.get("Active")
        runs = active if isinstance(active, bool) else _state(body) in _RUNS
        if runs and (part := about(uri, body)):
            found[uri] = _segment(part)
    return found


def _entry(uri: str, name: str, body: Mapping[str, Any], *, spare: bool) -> Entry:
    updateable = body.get("Updateable")
    version = _text(body, "Version")
    return Entry(
        id=name,
        uri=uri,
        version="" if version.lower() in UNTOLD else version,
        updateable=updateable if isinstance(updateable, bool) else None,
        software_id=_text(body, "SoftwareId"),
        manufacturer=_text(body, "Manufacturer"),
        name=_text(body, "Name"),
        absent=_state(body) == "Absent",
        spare=spare,
    )


def _state(body: Mapping[str, Any]) -> str:
    status = body.get("Status")
    state = status.get("State") if isinstance(status, Mapping) else None
    return state if isinstance(state, str) else ""


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
