"""What is in a machine, as its BMC lists it: who it is, its parts, and its firmware by entries that are alike."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fleet_runner.core.bmc import tree as reading
from fleet_runner.core.bmc.tree import ROOT, Body, Tree
from fleet_runner.core.checks.parsers import redfish, redfish_power
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish import Gathered, PowerSupply, rows_in, status_of, text_in
from fleet_runner.core.checks.parsers.redfish_machine import PARTS as INNER
from fleet_runner.core.firmware import inventory
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.matching import numbered

NOTHING = frozenset({"", "-", "n/a", "na", "none", "null", "unknown", "not specified", "default string",
                     "not available", "to be filled by o.e.m."})  # fmt: skip
"""What BMCs write where they have nothing to say."""

KINDS = {"cpu": "processors", "gpu": "GPUs", "dimm": "memory modules", "drive": "drives", "nic": "network adapters",
         "psu": "power supplies"}  # fmt: skip
"""Kinds of parts, and what many of them are called."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Machine:
    """Who a BMC says that it looks after; "" for what it does not tell. `clock` is the BMC's own time as told."""

    maker: str
    model: str
    serial: str
    bios: str
    bmc: str
    redfish: str
    power: str
    clock: str


@dataclass(frozen=True, slots=True)
class Device:
    """One part that is there, with figures, None where the BMC gives none.

    Cores and threads are a processor's, GiB and MT/s a memory module's, gigabytes (1e9 bytes) a drive's.
    """

    kind: str
    name: str
    model: str
    cores: int | None = None
    threads: int | None = None
    gib: float | None = None
    megatransfers: int | None = None
    gigabytes: int | None = None
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class Firmware:
    """Entries of a firmware inventory that are alike: a glob over their ids, their version, and how many they are.

    `called` is their Name where the BMC only numbers its entries, so that the glob is a star. An `exact` glob fits
    these entries and no other.
    """

    id: str
    name: str
    version: str
    count: int
    called: str = ""
    exact: bool = True


def machine(tree: Tree) -> Machine:
    """Return who the machine is: its own system first, then its chassis, then what the service root says."""
    systems, chassis = tree.at(f"{ROOT}/Systems/*"), tree.at(f"{ROOT}/Chassis/*")
    managers = tree.at(f"{ROOT}/Managers/*")
    root = tree.bodies.get(ROOT, {})
    own = [body for uri, body in systems.items() if not _is_board(uri)]
    outer = [body for uri, body in chassis.items() if not _is_board(uri) and _is_outer(body)]
    boards = [body for uri, body in systems.items() if _is_board(uri)]
    ours = [body for uri, body in managers.items() if not _is_board(uri)] or list(managers.values())
    every = [*own, *outer, *boards]
    return Machine(
        maker=_first(every, "Manufacturer") or said(root, "Vendor"),
        model=_first(every, "Model") or said(root, "Product"),
        serial=_first([*own, *outer], "SerialNumber") or _first(boards, "SerialNumber"),
        bios=_first(own, "BiosVersion"),
        bmc=_first(ours, "FirmwareVersion"),
        redfish=said(root, "RedfishVersion"),
        power=_first(own or outer, "PowerState"),
        clock=_first(ours, "DateTime"),
    )


def devices(tree: Tree) -> tuple[Device, ...]:
    """Return the parts that are there, kind by kind; power supplies are those of `supplies`."""
    processors = tree.of(reading.PROCESSORS)
    mine = [each for uri, body in processors.items() if not _is_board(uri) for each in _processor(uri, body)]
    theirs = [each for uri, body in processors.items() if _is_board(uri) for each in _processor(uri, body)]
    found = [*mine, *(each for each in theirs if not _has(mine, each.kind))]
    if not _has(found, "gpu"):
        found += [_plain("gpu", uri, body) for uri, body in tree.of(reading.CARDS).items() if status_of(body).there]
    found += [each for uri, body in tree.of(reading.MEMORY).items() for each in _dimm(uri, body)]
    drives = tree.at(reading.STORAGE.patterns[1])
    found += [each for uri, body in drives.items() for each in _drive(uri, body)]
    found += [_plain("nic", uri, body) for uri, body in tree.of(reading.ADAPTERS).items() if status_of(body).there]
    found += [Device("psu", _clean(each.name), _clean(each.model)) for each in supplies(tree) if each.present]
    return tuple(found)


def supplies(tree: Tree) -> tuple[PowerSupply, ...]:
    """Return the power supplies: of the chassis' Power, else those that have resources of their own."""
    power = tree.at(reading.POWER.patterns[0])
    rows = tuple(redfish.supply(row) for body in power.values() for row in rows_in(body, "PowerSupplies"))
    return rows or redfish_power.units(Gathered(tree.of(reading.POWER), ()))


def entries(tree: Tree) -> tuple[Entry, ...]:
    """Return the entries that run, by the numbers in their ids.

    Raises:
        EvidenceError: two entries have one id.
    """
    found = inventory.running(inventory.entries(tree.of(reading.FIRMWARE)))
    return tuple(sorted(found.values(), key=lambda entry: numbered(entry.id)))


def alike(listed: Sequence[Entry], others: Iterable[Entry] = ()) -> tuple[Firmware, ...]:
    """Group entries that differ in numbers alone, and whose versions are equal.

    `others` are entries that are not asked for, and which an exact glob may not fit either.
    """
    names = Counter(name for entry in listed for name in {entry.name, _NUMBER.sub("#", entry.name)})
    every = [*listed, *others]
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in listed:
        alike_in = f"#{entry.name}" if _is_numbered(entry) else _NUMBER.sub("#", entry.id)
        groups.setdefault((alike_in, entry.version), []).append(entry)
    return tuple(_group(mine, every, names) for mine in groups.values())


def _group(mine: Sequence[Entry], every: Sequence[Entry], names: Mapping[str, int]) -> Firmware:
    first, count = mine[0], len(mine)
    if _is_numbered(first):
        exact = sum(entry.name == first.name for entry in every) == count
        return Firmware("*", first.name, first.version, count, escaped(first.name), exact)
    if count == 1:
        name = first.name if names[first.name] == 1 else ""
        return Firmware(escaped(first.id), name, first.version, 1)
    glob = _glob([entry.id for entry in mine])
    fitting = sum(fits(glob, entry) for entry in every)
    return Firmware(glob, _name_of(mine, names), first.version, count, exact=fitting == count)


def _name_of(mine: Sequence[Entry], names: Mapping[str, int]) -> str:
    """Return what entries are called that no other is called like, with a star for what differs; "" without one."""
    called = {_NUMBER.sub("#", entry.name) for entry in mine}
    one = called.pop() if len(called) == 1 else ""
    return _glob([entry.name for entry in mine]) if one and names[one] == len(mine) else ""


def _is_numbered(entry: Entry) -> bool:
    """Tell if an id says nothing: HPE's are numbers, in the order in which parts were found."""
    return entry.id.isdecimal() and bool(entry.name)


def fits(glob: str, entry: Entry) -> bool:
    """Tell if a glob of a catalogue means an entry."""
    return fnmatchcase(entry.id, glob) or fnmatchcase(entry.segment, glob)


def escaped(name: str) -> str:
    """Return a glob that fits one name alone."""
    return re.sub(r"([*?[])", r"[\1]", name)


def said(body: Body, name: str) -> str:
    """Return a text of a resource, safe to show; "" where the BMC has nothing to say."""
    return _clean(text_in(body, name))


def line(text: str) -> str:
    """Return a text as one line, in which nothing is left that YAML or a terminal could take for more."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))


def _clean(text: str) -> str:
    found = line(text)
    return "" if found.lower() in NOTHING else found


def _first(bodies: Iterable[Body], name: str) -> str:
    return next((text for body in bodies if (text := said(body, name))), "")


def _is_board(uri: str) -> bool:
    return "/HGX_" in uri


def _is_outer(body: Body) -> bool:
    kind = text_in(body, "ChassisType")
    return kind not in INNER and "Enclosure" not in kind and kind != "ChassisType"


def _has(found: Sequence[Device], kind: str) -> bool:
    return any(each.kind == kind for each in found)


def _processor(uri: str, body: Body) -> Iterator[Device]:
    kind = {"CPU": "cpu", "GPU": "gpu"}.get(text_in(body, "ProcessorType"))
    if kind and status_of(body).there:
        yield Device(
            kind, _name(uri, body), said(body, "Model"), cores=_whole(body, "TotalCores"),
            threads=_whole(body, "TotalThreads"),
        )  # fmt: skip


def _dimm(uri: str, body: Body) -> Iterator[Device]:
    size = number(body.get("CapacityMiB"))
    if status_of(body).there and size != 0:
        model = said(body, "PartNumber") or said(body, "Model")
        gib = round(size / 1024, 1) if size is not None else None
        yield Device("dimm", _name(uri, body), model, gib=gib, megatransfers=_whole(body, "OperatingSpeedMhz"))


def _drive(uri: str, body: Body) -> Iterator[Device]:
    size = number(body.get("CapacityBytes"))
    if status_of(body).there and size != 0:
        gigabytes = int(size / 1e9) if size is not None else None
        yield Device(
            "drive", _name(uri, body), said(body, "Model"), gigabytes=gigabytes, protocol=said(body, "Protocol")
        )


def _plain(kind: str, uri: str, body: Body) -> Device:
    model = said(body, "Model") or said(body, "PartNumber") or said(body, "Manufacturer")
    return Device(kind, _name(uri, body), model)


def _name(uri: str, body: Body) -> str:
    return said(body, "Id") or said(body, "Name") or line(uri.rpartition("/")[2])


def _whole(body: Body, name: str) -> int | None:
    found = number(body.get(name))
    return int(found) if found is not None and found > 0 else None


def _glob(names: Sequence[str]) -> str:
    """Return a glob over names that differ in numbers alone: a star for each number that is not the same in all."""
    numbers = [_NUMBER.findall(name) for name in names]
    words = _NUMBER.split(names[0])
    same = [len(set(column)) == 1 for column in zip(*numbers, strict=True)]
    middle = [escaped(numbers[0][place]) if each else "*" for place, each in enumerate(same)]
    return "".join(word + star for word, star in zip(map(escaped, words), [*middle, ""], strict=True))
