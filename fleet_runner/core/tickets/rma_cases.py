"""Cases at vendors: which part of which node went back under which number, and what came in its place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Fleet

MOST_PARTS = 64
"""Parts of one case; a node has fewer that are worth sending back."""

LONGEST = 120
"""Characters of a slot, a serial number, a vendor or a case's number."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A part of a case: its slot, the serial number that went out, and the one that came in; "" while not known."""

    slot: str
    out: str = ""
    came: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A case at a vendor, open while `ended_at` is None; without parts it is about the whole node."""

    id: int
    node: str
    vendor: str
    number: str
    by: str
    opened_at: float
    parts: tuple[Replaced, ...] = ()
    ended_at: float | None = None
    because: str = ""


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """Read SLOT=SERIAL once for each slot; FleetError for anything else."""
    found: dict[str, str] = {}
    for each in given:
        slot, sign, serial = (word.strip() for word in each.rpartition("="))
        if not sign or not slot or not serial or max(len(slot), len(serial)) > LONGEST or slot in found:
            raise FleetError(
                f"{option} {each!r}: expected SLOT=SERIAL, once for each slot, such as SXM4=1650000000004;"
                " fleet-runner rma show names the slots"
            )
        found[slot] = serial
    return found


def exchanged(case: Case, out: dict[str, str], came: dict[str, str]) -> Case:
    """Return the case with what went out and what came in; a slot may be named again with what was not known yet."""
    slots = dict.fromkeys([*(part.slot for part in case.parts), *out, *came])
    known = {part.slot: part for part in case.parts}
    if len(slots) > MOST_PARTS:
        raise FleetError(f"case {case.number}: it would have {len(slots)} parts, expected at most {MOST_PARTS}")
    parts = [known.get(slot, Replaced(slot)) for slot in slots]
    return replace(
        case,
        parts=tuple(
            Replaced(part.slot, out.get(part.slot, part.out), came.get(part.slot, part.came)) for part in parts
        ),
    )


def elsewhere(fleet: Fleet, node: str, came: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the first slot whose new serial number would stand in another place as well: slot, number, and where.

    What came into other slots at the same time no longer stands there: two parts may change places. Slots that had
    one serial number before are one part.
    """
    before = {
        (device.name, part.slot): part.serial
        for device in fleet.devices.values()
        for part in device.parts
        if part.serial
    }
    after = before | {(node, slot): serial for slot, serial in came.items()}
    for slot, serial in came.items():
        for place, there in after.items():
            is_one = place in before and before[place] == before.get((node, slot))
            if there == serial and place != (node, slot) and not is_one:
                return slot, serial, " ".join(place)
    return None


def told(part: Replaced) -> str:
    """Say a part in words."""
    out = part.out or "serial not known"
    return f"{part.slot} ({out} out, {part.came} in)" if part.came else f"{part.slot} ({out} out)"
