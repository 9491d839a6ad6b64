"""The file of a device type, from what its nodes tell: YAML, a reason on each line, what differs as comments.

Nothing is invented: what nobody tells is left out, and what differs between nodes is a comment that names them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.fields import LONGEST
from fleet_runner.core.bmc import parts, proposed
from fleet_runner.core.bmc.parts import line
from fleet_runner.core.bmc.proposed import MOST_REASONS, Difference, Node, Told, Value
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.inventory.ansible import group_name

OWN = re.compile(r"[0-9a-f]{4}(:[0-9a-f]{4}){3}", re.ASCII | re.IGNORECASE)
"""A GUID: a BlueField lists those of its ports among its firmware."""

MOST_ENTRIES = 1000
"""Entries that one row of a catalogue may speak of."""


class Origin(NamedTuple):
    """Where the nodes' words come from: "what the BMCs", the device type where it is known, and what is left out."""

    words: str
    device_type: str
    left_out: str


OF_BMCS = Origin(
    "what the BMCs", "", "as no BMC reports it: network, hca, limits of tests under load, kernel and services"
)


def text(nodes: Sequence[Node], origin: Origin = OF_BMCS) -> str:
    """Return the file of a device type whose nodes these are.

    Raises:
        EvidenceError: they are of several models. Of a named device type's nodes, one may tell none.
    """
    models = sorted({each.model for each in nodes if each.model or not origin.device_type}) or [""]
    if len(models) > 1:
        raise EvidenceError(
            f"these are of {len(models)} models: {', '.join(model or 'one that is not told' for model in models)};"
            " a profile is one device type's: name nodes of one model"
        )
    lines = [
        *_head(nodes, models[0], origin), "fleet_profile:", *_told(nodes), *_bios(nodes),
        *_firmware(nodes, models[0]), *_rest(nodes, origin),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def file_name(device_type: str) -> str:
    """Return where Ansible looks for the variables of a device type."""
    return f"inventory/group_vars/{group_name('device_type', device_type)}.yml"


def _head(nodes: Sequence[Node], model: str, origin: Origin) -> Iterator[str]:
    slug = origin.device_type or re.sub("[^a-z0-9]+", "-", model.lower()).strip("-") or "unknown"
    yield "---"
    yield f"# Proposed from {origin.words} of {_count(len(nodes), 'node')} report; review it before use."
    called = line(model) or ("whose model no BMC tells" if origin.device_type else "not reported: fill it in")
    yield f"# Device type {called}, slug {line(slug)}."
    yield f"# Save it as {file_name(slug)}; then: fleet-runner firmware check"
    for each in nodes:
        yield f"#   {line(each.name)}: read on {each.day}"
    for name, reasons in proposed.odd(nodes).items():
        more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
        told = line("; ".join(reasons[:MOST_REASONS]))
        yield f"# ODD: {line(name)}: {told}{more}; look at it, or propose without it"


def _told(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the sections of values: one line a value, and a comment where nodes differ."""
    same = {each.key: each for each in proposed.alike(nodes)}
    differing = {each.key: each for each in proposed.differences(nodes)}
    there = {path[:end] for key in same for path in [tuple(key.split("."))] for end in range(1, len(path))}
    begun: tuple[str, ...] = ()
    for key in _in_sections([each.key for node in nodes for each in node.told]):
        *above, name = key.split(".")
        sections = [tuple(above[: depth + 1]) for depth in range(len(above)) if tuple(above[: depth + 1]) in there]
        for section in sections:
            if begun[: len(section)] != section:
                begun = section
                yield f"{'  ' * len(section)}{section[-1]}:"
        indent = "  " * (len(sections) + 1)
        if key in same:
            yield f"{indent}{name}: {yaml(same[key].value)} # {_why(same[key], nodes)}"
        else:
            yield f"{indent}# {key} differs: {_apart(differing[key])}"


def _in_sections(keys: Sequence[str]) -> list[str]:
    """Return each key once, those of one section together, in the order in which sections are met first."""
    met: dict[tuple[str, ...], int] = {}
    paths = [tuple(key.split(".")) for key in dict.fromkeys(keys)]
    places = {path: tuple(met.setdefault(path[:end], len(met)) for end in range(1, len(path))) for path in paths}
    return [".".join(path) for path in sorted(paths, key=lambda path: places[path])]


def _why(each: Told, nodes: Sequence[Node]) -> str:
    return line(each.why) if each.learned else f"{line(each.why)}, {_found(nodes)}"


def _bios(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the BIOS settings that are alike on all nodes, and who differs in which."""
    same = proposed.settings(nodes)
    if same:
        yield "  bios:"
        yield f"    # By the names that the BMC gives them, alike on all of {_count(len(nodes), 'node')}; take away"
        yield "    # those that your site leaves to each node."
        yield "    attributes:"
    for name, value in same.items():
        yield f"      {yaml(name)}: {yaml(value)} # {_found(nodes)}"
    if len(nodes) == 1 and nodes[0].settings:
        yield (
            f"  # bios: {len(nodes[0].settings)} settings were read, and none is proposed from one node: name a"
            " second one, so that its own can be told from its type's"
        )
    for each in proposed.differences(nodes):
        if each.key.startswith("bios.") and not any(told.key == each.key for told in nodes[0].told):
            yield f"  # {line(each.key)} differs: {_apart(each)}"


def _firmware(nodes: Sequence[Node], model: str) -> Iterator[str]:
    """Yield a row for each entry, or entries that are alike, whose version is the same on all nodes."""
    same = proposed.versions(nodes)
    common = [entry for entry in nodes[0].firmware if entry.id in same and _usable(entry)]
    kept = {entry.id for entry in common}
    others = [entry for node in nodes for entry in node.firmware if entry.id not in kept]
    rows = list({(row.id, row.called): row for row in _rows(common, others)}.values())
    if rows:
        yield "  firmware:"
        if model and len(model) <= LONGEST:
            yield f"    boards: [{yaml(model)}] # as the BMC calls the system"
        yield "    # No images: versions are compared, and nothing is sent. Add what else is legal to `accepted`."
        yield "    components:"
    for row in rows:
        yield f"      - component: {yaml(_component(row, rows))}"
        yield f"        inventory_id: {yaml(row.id)}"
        if row.called:
            yield f"        inventory_name: {yaml(row.called)}"
        if row.count > 1:
            yield f"        count: {row.count}"
        yield f"        target: {yaml(row.version)} # {_found(nodes)}, not a vendor's recommendation"
        yield f"        accepted: [{yaml(row.version)}]"
    yield from _unpinned(nodes, common, rows)


def _unpinned(nodes: Sequence[Node], common: Sequence[Entry], rows: Sequence[parts.Firmware]) -> Iterator[str]:
    pinned = {entry.id for row in rows for entry in common if _joins(row, entry)}
    for entry in common:
        if entry.id not in pinned:
            which = f"{line(entry.id)} ({line(entry.name)})"
            yield f"  # firmware {which} is not pinned: other entries of that name have another version"
    kept = {entry.id for entry in common}
    by_id = [{entry.id: entry.version or "no version" for entry in node.firmware} for node in nodes]
    for each in dict.fromkeys(entry.id for node in nodes for entry in node.firmware):
        if each not in kept:
            said = {node.name: one.get(each, "not listed") for node, one in zip(nodes, by_id, strict=True)}
            own = "a GUID is the node's own: " if any(map(OWN.fullmatch, said.values())) else ""
            yield f"  # firmware {line(each)} is not pinned: {own}{_apart(Difference(each, said))}"


def _apart(each: Difference) -> str:
    return line(str(each))


def _rows(common: Sequence[Entry], others: Sequence[Entry]) -> Iterator[parts.Firmware]:
    """Yield rows that fit just their entries; what only a wide glob would join has a row for each."""
    for row in parts.alike(common, others):
        mine = [entry for entry in common if entry.version == row.version and _joins(row, entry)]
        if row.exact and row.count <= MOST_ENTRIES:
            yield row
        elif not row.called:
            yield from (parts.Firmware(parts.escaped(entry.id), "", entry.version, 1) for entry in mine)


def _joins(row: parts.Firmware, entry: Entry) -> bool:
    return parts.fits(row.id, entry) and (not row.called or parts.escaped(entry.name) == row.called)


def _rest(nodes: Sequence[Node], origin: Origin) -> Iterator[str]:
    for note in dict.fromkeys(note for node in nodes for note in node.notes):
        which = [node.name for node in nodes if note in node.notes]
        whose = f" ({line(', '.join(which))})" if len(which) < len(nodes) else ""
        yield f"  # {line(note)}{whose}"
    yield f"  # Not proposed, {origin.left_out}."


def _usable(entry: Entry) -> bool:
    """Tell if a version can be pinned as it is told, and its entry be named."""
    texts = (entry.version, parts.escaped(entry.id), parts.escaped(entry.name))
    told = bool(entry.version) and entry.version.isprintable() and not OWN.fullmatch(entry.version)
    return told and max(map(len, texts)) <= LONGEST


def _component(row: parts.Firmware, rows: Sequence[parts.Firmware]) -> str:
    """Return a name that no other row has: what the BMC calls its numbered entries, else their ids."""
    if not row.called:
        return row.id
    return f"{row.called[:100]} (by name)" if any(other.id == row.called for other in rows) else row.called


def _found(nodes: Sequence[Node]) -> str:
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return f"found on {line(nodes[0].name)}{more} on {nodes[0].day}"


def yaml(value: Value) -> str:
    """Return a value as YAML: JSON, which YAML contains."""
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
