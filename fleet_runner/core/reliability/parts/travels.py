"""The history of a part over nodes, places, swaps and RMA, and that of a place over parts: line by line, by time."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.tickets.rma_cases import Case


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that befell a part or a place: when, in which node and place, which part, and in words what."""

    at: float
    node: str
    place: str
    serial: str
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)


def named(stay: Stay) -> str:
    """Return what people call a place, with what findings call it; the node itself is called by its kind."""
    return f"{stay.slot} ({stay.component})" if stay.slot else stay.component or stay.kind


def history(stays: Sequence[Stay], episodes: Iterable[Episode], cases: Iterable[Case]) -> tuple[Line, ...]:
    """Tell what befell the parts and places of some stays: where they went, what failed, what was sent back.

    The stays are those of one part, of one place, or of one node; faults and cases that are about none of them are
    left out.
    """
    serials = {stay.serial for stay in stays if stay.serial}
    lines = [*_arrivals(stays), *_faults(stays, serials, episodes), *_sent(serials, cases)]
    return tuple(sorted(lines, key=lambda line: (line.at, line.node, line.place, line.sentence)))


def _arrivals(stays: Sequence[Stay]) -> list[Line]:
    found: list[Line] = []
    here: dict[tuple[str, str, str], str] = {}
    were: dict[tuple[str, str], str] = {}
    for stay in sorted(stays, key=lambda each: (each.first_at, each.id)):
        place, part = (stay.kind, stay.node, stay.component), (stay.kind, stay.serial)
        before, came_from = here.get(place, ""), were.get(part, "")
        unknown = " of unknown serial number" if stay.component else ""
        what = f"{stay.kind} {stay.serial}" if stay.serial else f"{stay.kind}{unknown}"
        in_place_of = f", in place of {before}" if before and before != stay.serial else ""
        moved = f", came from {came_from}" if stay.serial and came_from else ""
        found.append(_line(stay, stay.first_at, f"{what} first seen here{moved}{in_place_of}"))
        here[place] = stay.serial
        were[part] = f"{stay.node} {named(stay)}"
    return found


def _faults(stays: Sequence[Stay], serials: set[str], episodes: Iterable[Episode]) -> list[Line]:
    found: list[Line] = []
    for each in episodes:
        about = next((stay for stay in stays if _about(stay, each)), None)
        if about is None or (each.serial and each.serial not in serials):
            continue
        again = f", seen {each.seen} times" if each.seen > 1 else ""
        found.append(_line(about, each.first_at, f"failed with {each.code}{again}"))
    return found


def _about(stay: Stay, fault: Episode) -> bool:
    """Whether a fault is about what was in a place then."""
    here = fault.component == stay.component or fault.component.startswith(f"{stay.component} ")
    if not (stay.component and here and fault.node == stay.node):
        return False
    if fault.serial and stay.serial:
        return fault.serial == stay.serial
    return stay.first_at <= fault.first_at <= stay.last_at


def _sent(serials: set[str], cases: Iterable[Case]) -> list[Line]:
    found: list[Line] = []
    for case in cases:
        for part in case.parts:
            known = f"case {case.number} at {case.vendor}"
            if part.out and part.out in serials:
                came = f"; {part.came} came in its place" if part.came else ""
                found.append(Line(case.opened_at, case.node, part.slot, part.out, f"sent back with {known}{came}"))
            if part.came and part.came in serials:
                instead = f" for {part.out}" if part.out else ""
                said = f"came with {known}{instead}"
                found.append(Line(case.opened_at, case.node, part.slot, part.came, said))
    return found


def _line(stay: Stay, at: float, sentence: str) -> Line:
    return Line(at, stay.node, named(stay), stay.serial, sentence)
