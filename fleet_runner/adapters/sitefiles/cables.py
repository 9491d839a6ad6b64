"""Cables of site files: `{a: {device, interface}, b: ...}`, or `[device, interface, device, interface]`.

What several cables share on their way is told by `trunk`, `panels` and `cage`, or as a whole by `carriers`.
"""

from collections.abc import Iterator
from typing import Any

from fleet_runner.adapters.sitefiles.records import NOTES
from fleet_runner.adapters.sitefiles.row import Mark, Row
from fleet_runner.adapters.sitefiles.tree import Map, Seq
from fleet_runner.core.inventory.consistency import Found, Problem, paired, show
from fleet_runner.core.inventory.records import CONNECTED, PANEL, REMOVED, Cable, Termination

CABLE_KEYS = NOTES | {
    "a", "b", "a_terminations", "b_terminations", "type", "label", "status", "color", "length", "length_unit",
    "trunk", "panels", "cage", "carriers",
}  # fmt: skip
END_KEYS = frozenset({"device", "interface"})
COMPACT = 4


def cables(tree: Seq, file: str, problems: list[Problem]) -> Iterator[Found[Cable]]:
    """Read a list of cables; one that connects several interfaces gives several records."""
    for line, entry in zip(tree.lines, tree.items, strict=True):
        if isinstance(entry, Map):
            yield from _full(Row(entry, file, "a cable", problems))
        else:
            found = _compact(entry, Mark(file, line, {}), problems)
            if found is not None:
                yield found


def _compact(entry: Any, mark: Mark, problems: list[Problem]) -> Found[Cable] | None:
    ends = entry.items if isinstance(entry, Seq) else []
    if len(ends) == COMPACT and all(isinstance(text, str) and text for text in ends):
        a, a_port, b, b_port = map(str, ends)
        return Found(Cable(Termination(a, a_port), Termination(b, b_port)), mark)
    found = [text if isinstance(text, str) else "..." for text in ends] or str(entry)[:20]
    text = f"found the cable {show(found)}, expected [device, interface, device, interface]"
    problems.append(Problem(mark(), f"{text} or the keys a and b"))
    return None


def _full(row: Row) -> Iterator[Found[Cable]]:
    row.only(CABLE_KEYS)
    before = len(row.problems)
    a, b = _ends(row, "a"), _ends(row, "b")
    kind, label, status = row.text("type") or "", row.text("label") or "", row.text("status") or CONNECTED
    carriers = _carriers(row)
    pairs = paired(a, b)
    row.mark.lines = _where_ends_are(row)
    if not pairs and len(row.problems) == before:
        text = f"the cable has {len(a)} interfaces at end a and {len(b)} at end b; expected one at each"
        row.wrong("a" if not a else "b", text)
    if status != REMOVED:
        for one, other in pairs:
            yield Found(Cable(one, other, label, kind, carriers, status), row.mark)


def _carriers(row: Row) -> tuple[str, ...]:
    """Return what the cable shares with others, coarse to fine."""
    trunk, cage, whole = row.text("trunk"), row.text("cage"), tuple(row.texts("carriers"))
    return whole or (
        *([f"trunk {trunk}"] if trunk else []),
        *(f"{PANEL} {panel}" for panel in row.texts("panels")),
        *([f"cage {cage}"] if cage else []),
    )


def _ends(row: Row, side: str) -> list[Termination]:
    several = f"{side}_terminations"
    if several in row.tree.items:
        return [_end(entry) for entry in row.rows(several, "a termination")]
    end = row.row(side, f"end {side} of the cable")
    return [_end(end)] if end else []


def _end(row: Row) -> Termination:
    row.only(END_KEYS)
    return Termination(row.needed("device"), row.needed("interface"))


def _where_ends_are(row: Row) -> dict[str, int]:
    lines = dict(row.mark.lines)
    for side in ("a", "b"):
        lines.setdefault(side, lines.get(f"{side}_terminations", row.mark.line))
    lines.setdefault(PANEL, lines.get("panels", row.mark.line))
    return lines
