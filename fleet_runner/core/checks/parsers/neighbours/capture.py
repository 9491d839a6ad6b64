"""Whatever a device says of its LLDP neighbours, told by its content: the forms of hosts and of switches' makers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import lldp, ufm_links, ufm_ports
from fleet_runner.core.checks.parsers.json_text import json_value
from fleet_runner.core.checks.parsers.neighbours import (
    ansible_output,
    by_interface,
    eos,
    gnmic,
    iosxr,
    junos,
    lldp_facts,
    nvue,
    nxos,
    openconfig,
    os10,
    sonic,
)
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, get, holders
from fleet_runner.core.checks.parsers.neighbours.terminal import printed

FORMS = (
    "what lldpctl -f json prints on a host, or a switch's LLDP neighbours: nv show interface lldp -o json, show lldp "
    "neighbors detail as JSON (EOS, NX-OS, Junos) or as text (OS10, IOS XR), show lldp table (SONiC) or OpenConfig's "
    "lldp as JSON, as gnmic's events or flat; NAPALM's get_lldp_neighbors, or facts of Ansible's modules"
)

_JSON = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)
_OBJECT = re.compile(r"\s*(?:\{(?![ \t]*[A-Za-z-]{2,5}[ \t]+Ports:)|\[\s*(?:[{\[\]]|$))")
"""How JSON begins: "[sudo] password for ops:" and "[root@ufm ~]# ibnetdiscover" are none, nor are ports of opensm."""

_FOR_PEOPLE = re.compile(
    r"Neighbor Device ID[ \t]|Device ID[ \t]+Local Intf|Loc PortID[ \t]|Local Interface[ \t]+Parent Interface"
    r"|Remote ?Host[ \t]+Remote ?Port|^[ \t]*(?:Local )?Port id:|^Interface \S{1,60} detected \d{1,4} LLDP"
    r"|^[ \t]*Interface:[ \t]+\S{1,80},[ \t]+via:|^[ \t]*lldp\.\S{1,80}\.via=",
    re.MULTILINE | re.ASCII | re.IGNORECASE,
)
"""Tables and lists of neighbours for people to read: nothing tells whether rows are missing at their end."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A maker's form: whether it is one, how it is read, and a word that is in the text of each of them."""

    tells: Callable[[Any], bool]
    read: Callable[[Any], Heard]
    word: str = ""


def _with(key: str, read: Callable[[Any], Heard]) -> _Form:
    return _Form(lambda root: any(True for _ in holders(root, key)), read, key)


def _lldpd(root: Any) -> bool:
    return isinstance(root, dict) and "lldp" in root and get(root, "lldp", "interfaces") is None


_FORMS = (
    _Form(lldp_facts.begins, lldp_facts.read, "lldp"),
    _Form(_lldpd, lambda root: Heard("", lldp.neighbours(root))),
    _with(eos.KEY, eos.read),
    _with(junos.KEY, junos.read),
    _with(nxos.KEY, nxos.read),
    _with(nxos.SHORT, nxos.refuse),
    _Form(gnmic.events, gnmic.read),
    _Form(by_interface.begins, by_interface.read),
    _Form(openconfig.begins, openconfig.read),
    _Form(nvue.begins, nvue.read),
)

_TEXTS = ((sonic.BEGINS, sonic.read), (os10.BEGINS, os10.read), (iosxr.BEGINS, iosxr.read))
"""Forms that are no JSON: how one of their lines begins, and how they are read."""


def begins(text: str) -> bool:
    """Whether a text begins as these do: a capture of an InfiniBand fabric that is JSON is UFM's."""
    if ansible_output.BEGINS.search(text) or gnmic.FLAT.search(text):
        return True
    try:
        body = printed(text)[1]
    except EvidenceError:  # of several devices
        return True
    json = _OBJECT.match(body) and not any(form.search(body) for form in (ufm_links.JSON, ufm_ports.JSON))
    return bool(json) or any(form.search(body) for form in (*(begins for begins, _ in _TEXTS), _FOR_PEOPLE))


def read(text: str) -> Heard:
    """Return what one device hears; EvidenceError says what was found and what expected."""
    try:
        return _read(text)
    except RecursionError:
        raise EvidenceError(f"it is JSON within JSON without end, expected {FORMS}") from None


def _read(text: str) -> Heard:
    root = _json_alone(text)
    if root is not None:
        return _told(root, text)
    if gnmic.FLAT.search(text):
        return Heard(printed(text)[0], gnmic.read_flat(text))
    if ansible_output.BEGINS.search(text):
        host, value = ansible_output.read(text)
        found = _told(value, text)
        return Heard(found.device or host, found.neighbours)
    device, body = printed(text)
    read_text = next((reader for begins, reader in _TEXTS if begins.search(body)), None)
    if read_text is not None:
        return Heard(device, read_text(body).neighbours)
    start = _JSON.search(body)
    if start is None:
        first = next((line.strip() for line in body.split("\n") if line.strip()), "")
        people = _FOR_PEOPLE.search(body)
        if people:
            raise EvidenceError(
                f"found {people[0].strip()[:60]!r}, a list of LLDP neighbours for people, which may be cut unseen;"
                f" expected {FORMS}"
            )
        raise EvidenceError(f"found {first[:80]!r}, expected {FORMS}" if first else f"it is empty, expected {FORMS}")
    found = _told(_values(body[start.start() :]), body)
    return Heard(device or found.device, found.neighbours)


def _json_alone(text: str) -> Any:
    """Return the JSON that a text is, without a terminal's lines; else None. It is the quick way of long captures."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return _values(text)
    except EvidenceError:
        return None


def _values(text: str) -> Any:
    """Return the JSON that a text is; several answers of gnmic, one after the other, as a list of them."""
    try:
        return json_value(text, "what the device printed")
    except EvidenceError:
        several = gnmic.answers(text) if gnmic.STREAM in text else None
        if several is None:
            raise
        return several


def _told(root: Any, text: str) -> Heard:
    """Return what a device hears by its JSON, of which `text` is where it was read from."""
    form = next((form for form in _FORMS if form.word in text and form.tells(root)), None)
    if form is None:
        keys = ", ".join(sorted(root)[:3]) if isinstance(root, dict) else ""
        raise EvidenceError(
            f"found JSON with {keys[:80] or 'nothing of LLDP'}, expected {FORMS}; of an InfiniBand fabric UFM's"
            " resources/links"
        )
    return form.read(root)
