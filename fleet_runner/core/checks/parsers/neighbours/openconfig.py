"""OpenConfig's LLDP model (openconfig-lldp) as JSON: of RESTCONF, of gNMI, with and without modules' names.

interfaces, interface[], neighbors, neighbor[], state. gNMI's clients wrap it into updates; those of some devices have
one for each neighbour, or for each of its words, under a path that tells the interface:
`…/interface[name=Ethernet1]/neighbors/neighbor[id=1]/state/system-name`.
"""

import re
from collections.abc import Iterator
from typing import Any

from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours import gnmic
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, bare, entries, get, holders, neighbour, word

_WORDS = ("system-name", "port-id", "port-description", "port-id-type")
_UPDATE = re.compile(r"interface\[name=([^\]\n]{1,80})\]((?:/[^\n]{0,300})?)$", re.ASCII)
_STATE = re.compile(r"/neighbors/neighbor\[id=([^\]\n]{1,120})\]/state(?:/([\w-]{1,40}))?$", re.ASCII)
_MODULE = re.compile(r"(?<=/)[a-z][\w-]{0,40}:", re.ASCII)
_BELOW = {"": ("neighbors", "neighbor"), "/neighbors": ("neighbor",)}
"""Where neighbours lie in an update of an interface, by the rest of its path."""


def begins(root: Any) -> bool:
    """Whether it has interfaces of this model, or updates of its neighbours."""
    lists = [get(holder, "interface") for holder in holders(root, "interface")]
    named = any(get(each, "name") is not None for told in lists if isinstance(told, list) for each in told)
    return named or any(True for _ in _updates(root)) or any(map(_of_module, entries(root)))


def read(root: Any) -> Heard:
    """Return what a device hears, and its own name where it was asked for more than its interfaces."""
    listed = [each for holder in holders(root, "interface") for each in entries(get(holder, "interface"))]
    told = [(word(get(each, "name")), one) for each in listed for one in _listed(each)]
    states: dict[tuple[str, str], dict[str, Any]] = {}
    for interface, rest, value in _updates(root):
        if rest in _BELOW:
            told += [(interface, one) for one in entries(get(value, *_BELOW[rest]))]
        elif found := _STATE.match(rest):
            words = {found[2]: value} if found[2] else value
            states.setdefault((interface, found[1]), {}).update(words if isinstance(words, dict) else {})
    told += [(interface, words) for (interface, _), words in states.items()]
    own = [word(get(holder, "state", "system-name")) for holder in holders(root, "interfaces")]
    device = next(filter(None, own), "") or gnmic.source(holders(root, "source"))
    return Heard(device, tuple(_neighbour(*each) for each in told))


def _listed(interface: Any) -> list[Any]:
    """Nokia's SR Linux writes neighbours without the list's holder."""
    return entries(get(interface, "neighbors", "neighbor") or get(interface, "neighbor"))


def _neighbour(interface: str, told: Any) -> Neighbour:
    """Some devices write the words beside the state."""
    words = [word(get(told, "state", key)) or word(get(told, key)) for key in _WORDS]
    return neighbour(interface, *words)


def _of_module(value: Any) -> bool:
    """Whether an answer, an empty one too, is of this model by its module's name."""
    return isinstance(value, dict) and any(name.startswith("openconfig-lldp:") for name in value)


def _updates(root: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the interface, the rest of the path and the value of each update."""
    for prefix, update in _pathed(root):
        path = get(update, "Path") or get(update, "path")
        whole = f"{prefix}/{path}" if prefix else path
        found = _UPDATE.search(_MODULE.sub("", whole)) if isinstance(path, str) else None
        if found:
            told = get(update, "values")
            yield (
                found[1],
                found[2],
                next(iter(told.values()), None) if isinstance(told, dict) else get(update, "val"),
            )


def _pathed(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield each object with a path, with what an answer says that all of its paths begin with."""
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        prefix, value = waiting.pop()
        if isinstance(value, dict):
            if any(bare(name) in {"Path", "path"} for name in value):
                yield prefix, value
                continue
            told = get(value, "prefix")
            below = told if isinstance(told, str) else prefix
            waiting += [(below, each) for each in reversed(value.values())]
        elif isinstance(value, list):
            waiting += [(prefix, each) for each in reversed(value)]
