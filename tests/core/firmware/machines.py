"""Invented machines and catalogues for them, and what becomes of a machine when a step is carried out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from fleet_runner.core.firmware.catalogue import Catalogue, Component, Image, read
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.planner import Plan, Step, plan

BASE = "/redfish/v1/UpdateService/FirmwareInventory"
RELEASES = range(4)
SHA = "ab" * 32


@dataclass(frozen=True)
class Machine:
    """A catalogue, the entries of one machine, and the versions that failed as often as they may."""

    catalogue: Catalogue
    entries: Mapping[str, Entry]
    failed: Mapping[str, frozenset[str]]

    def plan(self) -> Plan:
        """Plan from how the machine is now."""
        return plan(self.catalogue, self.entries, failed=self.failed)

    def after(self, step: Step) -> "Machine":
        """Return the machine with a step carried out."""
        changed = {
            name: replace(entry, version=step.targets.get(name, entry.version))
            for name, entry in self.entries.items()
        }
        return replace(self, entries=changed)

    def row(self, name: str) -> Component:
        """Return the row that means an entry."""
        return next(row for row in self.catalogue.components if name.startswith(row.inventory_id.rstrip("*")))


def carried_out(machine: Machine) -> Iterator[tuple[Machine, Step]]:
    """Give each first step with the machine before it, until there are none."""
    while steps := machine.plan().steps:
        yield machine, steps[0]
        machine = machine.after(steps[0])


def inventory(**versions: str) -> dict[str, Entry]:
    """Return the entries of some versions by id."""
    return {name: Entry(name, f"{BASE}/{name}", version) for name, version in versions.items()}


def catalogue(*rows: Mapping[str, Any], **more: Any) -> Catalogue:
    """Return the catalogue of rows as a profile has them."""
    return read({"firmware": {"components": list(rows), **more}})


def image(file: str, *installs_from: str, **more: Any) -> dict[str, Any]:
    """Return an image as a profile has it."""
    return {"file": file, "sha256": SHA, **({"from": list(installs_from)} if installs_from else {}), **more}


def version(row: int, release: int) -> str:
    """Return the version that a release brings to a row's entries."""
    return f"r{row}.{release}"


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Draw a machine with a sound catalogue: bundles of rows that share files, hops, exclusive and wide rows."""
    rows: list[Component] = []
    for bundle in range(draw(st.integers(1, 3))):
        order, manner = draw(st.integers(0, 2)), draw(st.sampled_from(["", "untargeted", "targets", "exclusive"]))
        first = Component("", "", "", (), order=order, untargeted=manner == "untargeted")
        first = replace(first, targets=(f"/redfish/v1/Chassis/{bundle}",) if manner == "targets" else ())
        first = replace(first, exclusive=f"group {bundle}" if manner == "exclusive" else "")
        for _ in range(draw(st.integers(1, 3))):
            rows.append(_row(draw, first, bundle, len(rows)))
    bringing = [row.name for row in rows if row.images and not row.exclusive]
    if bringing and draw(st.booleans()):
        brought = _row(draw, Component("", "", "", (), order=draw(st.integers(0, 2))), 9, len(rows))
        rows.append(replace(brought, images=(), brought_by=draw(st.sampled_from(bringing))))
    entries = _entries(draw, rows)
    failing = st.dictionaries(st.sampled_from(sorted(entries)), st.sampled_from(RELEASES), max_size=1)
    failed = {name: frozenset({f"{name.split('_')[0]}.{release}"}) for name, release in draw(failing).items()}
    return Machine(Catalogue(tuple(rows)), entries, failed)


def _row(draw: st.DrawFn, first: Component, bundle: int, number: int) -> Component:
    releases = draw(st.sets(st.sampled_from(RELEASES), min_size=1))
    target = version(number, max(releases))
    held = draw(st.one_of(st.just(releases), st.just(releases), st.sets(st.sampled_from(sorted(releases)))))
    images = tuple(
        Image(
            version(number, release),
            f"bundle{bundle}-{release}.bin",
            SHA,
            tuple(version(number, before) for before in _before(draw, release)),
        )
        for release in draw(st.permutations(sorted(held | {max(releases)} if held else held)))
    )
    legal = sorted(draw(st.sets(st.sampled_from(RELEASES))))
    accepted = (target, *(version(number, each) for each in legal if version(number, each) != target))
    return replace(
        first, name=f"row {number}", inventory_id=f"r{number}_*", target=target, accepted=accepted, images=images
    )


def _before(draw: st.DrawFn, release: int) -> list[int]:
    """Return the releases over which one installs: any, the one before, or some."""
    some = st.sets(st.sampled_from(RELEASES), max_size=2).map(lambda found: sorted(found - {release}))
    return draw(st.one_of(st.just([]), st.just([release - 1] if release else []), some))


def _entries(draw: st.DrawFn, rows: Sequence[Component]) -> dict[str, Entry]:
    found = inventory(Other="1.0", Backup_r0="0.1")
    for number in range(len(rows)):
        for place in range(draw(st.integers(1, 3))):
            at = draw(st.sampled_from(RELEASES))
            fixed = draw(st.sampled_from([None, *[True] * 30, False]))
            name = f"r{number}_{place}"
            found[name] = Entry(name, f"{BASE}/{name}", version(number, at), updateable=fixed)
    return found
