"""What nvme-cli tells, as JSON: what a controller can do, how its last sanitize went, and what namespaces it has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, number, objects

FORMATS = 1 << 1
"""Of OACS: the controller knows Format NVM (NVM Express Base Specification 2.0, figure 275)."""

MANAGES = 1 << 3
"""Of OACS: the controller knows Namespace Management, without which it has no namespaces but those that it shows."""

FORMAT_CRYPTO = 1 << 2
"""Of FNA: Format NVM can erase by forgetting the key."""

SANITIZE_CRYPTO, SANITIZE_BLOCK = 1 << 0, 1 << 1
"""Of SANICAP. nvme-cli prints it signed, which changes nothing about its low bits."""

WHOLE = 65536
"""Of so many parts SPROG counts those that are done."""

DEEPEST = 12
"""How deep nvme-cli nests is half of this."""

_STATUS = re.compile(r"\((\d)\)")

_UNKNOWN = re.compile(r"invalid[_ ](command[_ ])?(opcode|field)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Controller:
    """Who a controller says it is, and by which means it can erase."""

    serial: str
    model: str
    firmware: str
    formats: bool
    format_crypto: bool
    sanitize_crypto: bool
    sanitize_block: bool
    manages: bool


class Sanitized(IntEnum):
    """How the last sanitize went: the low three bits of SSTAT."""

    NEVER = 0
    DONE = 1
    RUNNING = 2
    FAILED = 3
    DONE_KEPT = 4  # done, and nothing was deallocated afterwards


@dataclass(frozen=True, slots=True)
class Sanitize:
    """The sanitize status log. `erased`: nothing was written since; `share` is how far a running one has come."""

    state: Sanitized
    erased: bool
    share: float

    @property
    def proves(self) -> bool:
        """Whether the device itself says that it holds nothing any more."""
        return self.erased and self.state in {Sanitized.DONE, Sanitized.DONE_KEPT}


def controller(text: str) -> Controller:
    """Read `nvme id-ctrl -o json`."""
    found = json_object(text, "nvme id-ctrl")
    fna, sanicap = _bits(found, "fna"), _bits(found, "sanicap")
    formats = bool(_bits(found, "oacs") & FORMATS)
    return Controller(
        serial=_text(found, "sn"),
        model=_text(found, "mn"),
        firmware=_text(found, "fr"),
        formats=formats,
        format_crypto=formats and bool(fna & FORMAT_CRYPTO),
        sanitize_crypto=bool(sanicap & SANITIZE_CRYPTO),
        sanitize_block=bool(sanicap & SANITIZE_BLOCK),
        manages=bool(_bits(found, "oacs") & MANAGES),
    )


def sanitize(text: str) -> Sanitize:
    """Read `nvme sanitize-log -o json`, whose one key is the device's name.

    The status is looked for among all of SSTAT: some versions print it under a key that is its own sentence.
    """
    found = json_object(text, "nvme sanitize-log")
    log = next((each for each in found.values() if isinstance(each, Mapping) and "sstat" in each), None)
    status = log.get("sstat") if log else None
    if log is None or not isinstance(status, Mapping):
        raise EvidenceError("nvme sanitize-log: it holds no SSTAT")
    told = next((said for each in status.values() if (said := _STATUS.match(str(each)))), None)
    if told is None or int(told[1]) not in set(Sanitized):
        raise EvidenceError(f"nvme sanitize-log: found {dict(status)!r:.120}, expected a status from (0) to (4)")
    share = (number(log.get("sprog")) or 0.0) / WHOLE
    return Sanitize(Sanitized(int(told[1])), _bits(status, "global_erased") == 1, share)


def namespaces(text: str) -> int:
    """Read `nvme list-ns --all -o json`: how many namespaces are allocated, attached or not."""
    return len(objects(json_object(text, "nvme list-ns").get("nsid_list"), "nvme list-ns"))


def unknown(said: str) -> bool:
    """Whether a drive answers that it has no such command, or none of that kind, in the words of any nvme-cli."""
    return _UNKNOWN.search(said) is not None


def transports(text: str) -> dict[str, frozenset[str]]:
    """Read `nvme list -v -o json`: how each namespace ("nvme0n1") is reached, by all controllers that have it."""
    found: dict[str, frozenset[str]] = {}
    for subsystem in _having(json_object(text, "nvme list"), "Controllers"):
        ways = frozenset(_text(each, "Transport") for each in _having(subsystem, "Transport"))
        found |= {_text(each, "NameSpace"): ways for each in _having(subsystem, "NameSpace")}
    return found


def _having(value: object, key: str, deeper: int = DEEPEST) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings with a key, at any reasonable depth but within none of themselves."""
    inside: list[object] = []
    if isinstance(value, Mapping):
        if key in value:
            yield value
            return
        inside = list(value.values())
    elif isinstance(value, list):
        inside = value
    for each in inside if deeper else ():
        yield from _having(each, key, deeper - 1)


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _bits(found: Mapping[str, Any], name: str) -> int:
    return int(number(found.get(name)) or 0)
