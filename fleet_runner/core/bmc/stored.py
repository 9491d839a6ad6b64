"""A node of the store as a profile sees it: from what our checks last read of it, its tools first, then its BMC.

Where the node's own tools and its BMC tell the same thing, the tools count: the checks ask those.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc import gpu_facts, host_facts, proposal
from fleet_runner.core.bmc.host_facts import Texts
from fleet_runner.core.bmc.parts import Device, said
from fleet_runner.core.bmc.proposed import Node, Setting, Told
from fleet_runner.core.bmc.proposed_file import Origin
from fleet_runner.core.checks.baseline import LearnedLimit
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import also, reads, run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import redfish, redfish_power
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware import inventory
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.matching import numbered
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence

T = TypeVar("T")

PRIVATE = (
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "serial",
    "asset",
    "uuid",
    "guid",
    "mac",
    "secret",
    "servicetag",
)
"""Words in the names of BIOS settings that are one node's own, or nobody's to read."""

LONGEST_SETTING = 200

SECTIONS = (
    ("parts.cpu", "lscpu"),
    ("parts.dimm", "dmidecode"),
    ("parts.nvme", "nvme_controllers"),
    ("nvlink", "nvlink_status"),
    ("nic_of_gpu", "nvidia_smi_topology"),
    ("xgmi", "amd_smi_xgmi"),
    ("kernel", "kernel_files"),
    ("pcie_devices", "pci_devices"),
    ("sensors", "redfish_sensors"),
    ("bios", "redfish_bios"),
    ("firmware", "redfish_firmware"),
)
"""Sections of a profile, and the read that each has gathered: without a section, its read is not made."""


class Piece(NamedTuple):
    """The newest text of a read, and when it was read (seconds since the epoch)."""

    text: str
    at: float


def origin(device_type: str) -> Origin:
    """Return where the words of the store's nodes come from."""
    return Origin(
        "what the tools and BMCs",
        device_type,
        "as it is a site's choice: hca_interfaces, network, services, burn_in, and limits that no good node can tell",
    )


def node(name: str, pieces: Mapping[str, Piece], latest: Sequence[Result] = ()) -> Node:
    """Return what was last read of a node, by the names of the reads; `latest` are its newest results."""
    texts = {read: piece.text for read, piece in pieces.items()}
    told, notes = host_facts.told(texts)
    notes += [
        f"{name} may not be good: {each.check} last answered FAIL: {each.message:.200}"
        for each in latest
        if each.verdict is Verdict.FAIL
    ]
    for facts in (gpu_facts.told, _supplies, _sensors):
        told += _drawn(facts, texts, notes)
    strange = [each.key for each in told if not _is_plain(each.value)]
    notes += [f"{key} is not proposed: {name} tells it with signs that nobody can type" for key in strange]
    firmware = tuple(_drawn(_firmware, texts, notes))
    settings = dict(_drawn(_settings, texts, notes))
    notes += _lacking(texts)
    day = f"{datetime.fromtimestamp(max(each.at for each in pieces.values()), UTC):%Y-%m-%d}" if pieces else "no day"
    usable = tuple(each for each in told if each.key not in strange)
    return Node(name, day, _model(texts), usable, firmware, tuple(notes), settings)


def _drawn(facts: Callable[[Texts], Iterable[T]], texts: Texts, notes: list[str]) -> list[T]:
    """Return what can be drawn from texts; of what cannot be read there is a note."""
    try:
        return [*facts(texts)]
    except EvidenceError as error:
        notes.append(f"not all that was read could be used: {error}")
        return []


def failing(name: str, profile: Mapping[str, Any], pieces: Mapping[str, Piece]) -> list[Result]:
    """Return what a node would fail of a profile, judged on what was last read of it; the empty list is expected."""
    readings = {read: Reading(read, ReadEnd.OK, piece.text, at=piece.at) for read, piece in pieces.items()}
    found: list[Result] = []
    for check in CHECKS.values():
        needed = reads(check, profile)
        if check.active or check.needs_fabric or not needed or not readings.keys() >= {*needed}:
            continue
        mine = {each: readings[each] for each in (*needed, *also(check, profile)) if each in readings}
        at = max(mine[each].at for each in needed)
        result = run(check, mine, Expected(name, profile, run={"id": 0, "now": at}))
        if result.verdict is Verdict.FAIL:
            found.append(result)
    return found


def _lacking(texts: Texts) -> Iterator[str]:
    """Yield which section would have had gathered what was never read of a node."""
    others = {"nvlink", "nic_of_gpu"} if "amd_smi_static" in texts else {"xgmi"}
    names = [section for section, read in SECTIONS if read not in texts and section not in others]
    if names:
        yield (
            f"never read, so that nothing is proposed of it: {', '.join(names)}; write these sections empty into the"
            " device type's file, and its nodes' next checks read it (docs/profiles.md)"
        )


def _supplies(texts: Texts) -> Iterator[Told]:
    every: tuple[redfish.PowerSupply, ...] = ()
    if "redfish_power" in texts and redfish.lists_supplies(texts["redfish_power"]):
        every = redfish.power_supplies(texts["redfish_power"])
    elif "redfish_supplies" in texts:
        every = redfish_power.units(redfish.gathered(texts["redfish_supplies"], "the power supplies"))
    yield from proposal.supplies([Device("psu", each.name, each.model) for each in every if each.present])


def _sensors(texts: Texts) -> Iterator[Told]:
    if "redfish_sensors" in texts:
        yield from proposal.sensors(redfish.gathered(texts["redfish_sensors"], "the sensors"))


def _firmware(texts: Texts) -> tuple[Entry, ...]:
    if "redfish_firmware" not in texts:
        return ()
    bodies = redfish.resources(texts["redfish_firmware"], "the firmware inventory")
    return tuple(sorted(inventory.running(inventory.entries(bodies)).values(), key=lambda entry: numbered(entry.id)))


def _settings(texts: Texts) -> list[tuple[str, Setting]]:
    """Return the BIOS settings of the computer itself that a type may share."""
    if "redfish_bios" not in texts:
        return []
    bodies = redfish.gathered(texts["redfish_bios"], "the BIOS settings").bodies
    able = {uri: rows for uri, body in bodies.items() if isinstance(rows := body.get("Attributes"), Mapping) and rows}
    whole = [rows for uri, rows in able.items() if "Baseboard" not in uri] or [*able.values()]
    rows = whole[0] if len(whole) == 1 else {}
    return [(str(name), value) for name, value in rows.items() if _is_shared(str(name), value)]


def _is_plain(value: object) -> bool:
    """Tell if a value is read from YAML as it was written: its texts are short, and of one line."""
    if isinstance(value, str):
        return value.isprintable() and len(value) <= LONGEST_SETTING
    inner = [*value.values()] if isinstance(value, Mapping) else value if isinstance(value, tuple) else ()
    return all(map(_is_plain, inner))


def _is_shared(name: str, value: object) -> bool:
    plain = name.lower()
    if any(word in plain for word in PRIVATE) or not (name.isprintable() and 0 < len(name) <= LONGEST_SETTING):
        return False
    text = isinstance(value, str) and 0 < len(value) <= LONGEST_SETTING and value.isprintable()
    return text or isinstance(value, bool | int)


def _model(texts: Texts) -> str:
    for read in ("redfish_machine", "redfish_systems", "redfish_health"):
        try:
            bodies = redfish.gathered(texts.get(read, "{}"), "the machine").bodies
        except EvidenceError:
            continue
        for uri, body in bodies.items():
            if "/Systems/" in uri and "HGX_" not in uri and (model := said(body, "Model")):
                return model
    return ""


def pieces(results: Sequence[Stored], texts: Mapping[str, Evidence], profile: Mapping[str, Any]) -> dict[str, Piece]:
    """Return the newest text of each read of a node, from the evidence of its results.

    The store names a text after the first read that brought it: where names do not fit, their order counts.
    """
    found: dict[str, Piece] = {}
    for stored in sorted(results, key=lambda each: each.at):
        kept = [texts[digest] for digest in stored.result.evidence if digest in texts]
        check = CHECKS.get(stored.result.check)
        needed = reads(check, profile) if check is not None else ()
        names = [each.read for each in kept]
        if len(kept) == len(needed) and not {*needed} <= {*names}:
            names = [*needed]
        found |= {name: Piece(each.text, stored.at) for name, each in zip(names, kept, strict=True)}
    return found


def learned(marks: Sequence[LearnedLimit], present: Mapping[str, Any], told: Collection[str]) -> tuple[Told, ...]:
    """Return the marks and limits that were learned, as a profile's values.

    With each go the other keys of its section, as the present profile has them: a test without them cannot run. What
    the nodes themselves told (`told`) is left as it is, and a mark that one of these nodes would fail is none.
    """
    found: dict[str, Told] = {}
    for each in marks:
        key = each.measure.mark
        if each.mark is None or each.outside or key in told:
            continue
        why = f"learned from {each.numbers} numbers of {each.nodes} nodes, median {each.median:.4g} (baseline)"
        found[key] = Told(key, each.mark, why, learned=True)
        above = key.rpartition(".")[0]
        for name, value in _section(present, above).items():
            beside = f"{above}.{name}"
            if beside not in told:
                found.setdefault(beside, Told(beside, value, "as in the present profile", learned=True))
    return tuple(found.values())


def refused(marks: Sequence[LearnedLimit]) -> tuple[str, ...]:
    """Return a sentence for each mark that good nodes themselves would fail."""
    return tuple(
        f"{each.measure.mark} is not proposed: {', '.join(each.outside)} would fail {each.mark:g}"
        for each in marks
        if each.mark is not None and each.outside
    )


def _section(profile: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found: Any = profile
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
