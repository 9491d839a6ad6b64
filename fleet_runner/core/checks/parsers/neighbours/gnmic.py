"""What gnmic prints beside its own JSON: events, one line for each leaf ("flat"), and one answer after the other.

An event has the interface and the neighbour as tags, and what it says of them by path. A flat line is a path and its
value: `lldp/interfaces/interface[name=Ethernet1]/neighbors/neighbor[id=1]/state/system-name: gpu-01`.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, bare, entries, neighbour, word

FLAT = re.compile(
    r"^[ \t]*(?:[\w.-]{1,40}:)?/?(?:[\w-]{1,40}:)?lldp/interfaces/interface\[name=([^\]\n]{1,80})\]/neighbors/"
    r"neighbor\[id=([^\]\n]{1,120})\]/state/(?:[\w-]{1,40}:)?([\w-]{1,40}):[ \t]+([^\n]*)$",
    re.MULTILINE | re.ASCII,
)
"""A line of a neighbour."""

STREAM = '"source"'
"""A word of each answer that gnmic prints."""

_STATE = re.compile(r"/neighbors/neighbor/(?:state/)?(?:[\w-]{1,40}:)?([\w-]{1,40})$", re.ASCII)
_INTERFACE = ("interface_name", "interface-name", "name")
_NEIGHBOUR = ("neighbor_id", "neighbor-id", "id")
_VALUE = re.compile(r"\S")
_WORDS = ("system-name", "port-id", "port-description", "port-id-type")

_Key = tuple[str, str]
"""The interface that hears a neighbour, and the neighbour's number there."""


def events(root: Any) -> bool:
    """Whether it is a list of events, or one."""
    told = entries(root)
    return bool(told) and all(isinstance(each, dict) and {"tags", "values"} <= each.keys() for each in told)


def read(root: Any) -> Heard:
    """Return what a device hears by its events; EvidenceError where none of them is of LLDP."""
    states: dict[_Key, dict[str, Any]] = {}
    for event in entries(root):
        interface, number = (_first(event["tags"], keys) for keys in (_INTERFACE, _NEIGHBOUR))
        for path, value in event["values"].items() if isinstance(event["values"], dict) else ():
            found = _STATE.search(path)
            if found and interface:
                states.setdefault((interface, number), {})[found[1]] = value
    if not states:
        raise EvidenceError(
            "found gnmic's events without a neighbour of LLDP, expected those of the path"
            " /lldp/interfaces/interface/neighbors"
        )
    return Heard(source([each["tags"] for each in entries(root)]), _told(states))


def read_flat(text: str) -> tuple[Neighbour, ...]:
    """Return what a device hears by lines; EvidenceError for a last line that may be cut."""
    states: dict[_Key, dict[str, Any]] = {}
    plain = text.replace("\r", "")
    for found in FLAT.finditer(plain):
        interface, number, name, value = found.groups()
        states.setdefault((interface, number), {})[name] = value
        if found.end() == len(plain):
            raise EvidenceError("gnmic's last line has no end; was it cut short?")
    return _told(states)


def answers(text: str) -> list[Any] | None:
    """Return one JSON value after the other, lists as what they list; None if that is not all of the text."""
    decoder, at, found = json.JSONDecoder(), 0, list[Any]()
    try:
        while (begin := _VALUE.search(text, at)) is not None:
            value, at = decoder.raw_decode(text, begin.start())
            found += entries(value)
    except (ValueError, RecursionError):
        return None
    return found


def source(told: Iterable[Any]) -> str:
    """Return the device that answers are of, "" for an address; EvidenceError for several devices."""
    hosts = dict.fromkeys(
        word(each.get("source")).rpartition(":")[0] or word(each.get("source"))
        for each in told
        if isinstance(each, dict) and each.get("source")
    )
    if len(hosts) > 1:
        raise EvidenceError(f"found answers of {', '.join(hosts)[:120]}, expected one device's in a file")
    name = next(iter(hosts), "")
    return name if re.search("[a-zA-Z]", name) and ":" not in name else ""


def _told(states: dict[_Key, dict[str, Any]]) -> tuple[Neighbour, ...]:
    return tuple(
        neighbour(interface, *(word(words.get(key)) for key in _WORDS)) for (interface, _), words in states.items()
    )


def _first(tags: Any, keys: tuple[str, ...]) -> str:
    named = {bare(name): value for name, value in tags.items()} if isinstance(tags, dict) else {}
    return next((found for key in keys if (found := word(named.get(key)))), "")
