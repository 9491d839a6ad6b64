"""Tests of pairs of nodes, and what each came to, in one text: how `fleet-runner cabling paths --run` keeps them.

Shape: {"path_tests": [{"from": [device, interface], "to": [device, interface], "leaves": [leaf, leaf], "flows": 12,
"ways": [[device, interface, device, interface]], "gbitps": number or null, "mark": number or null, "apart": text,
"untold": text, "kind": text}], "links": number, "uncovered": {link: why}}.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.parsers.json_text import json_object, number, objects

KEY = "path_tests"

LONGEST = 200
"""Characters of a sentence of why."""


class PathTest(NamedTuple):
    """One test: its ports, the leaves between them, the links that its flows may take, and what it came to.

    `gbitps` is of one way, None where nothing was measured: then `apart` says how the adapters did not reach each
    other, or `untold` why it is not known. `mark` is the least that passes, None where the profile gives none.
    `kind` is what its ports are ("400gbase-x-qsfp112"): only pairs of one kind are compared.
    """

    one: Port
    other: Port
    leaves: tuple[str, str]
    flows: int
    ways: tuple[Link, ...]
    gbitps: float | None
    mark: float | None
    apart: str = ""
    untold: str = ""
    kind: str = ""

    @property
    def nodes(self) -> frozenset[str]:
        """Return both nodes."""
        return frozenset({self.one.device, self.other.device})

    @property
    def named(self) -> str:
        """Return "gpu-01 eth1 and gpu-02 eth2"."""
        return f"{self.one} and {self.other}"


class PathsTold(NamedTuple):
    """All tests of a fabric, how many links they should use, and which they do not, each with why."""

    tests: tuple[PathTest, ...]
    links: int
    uncovered: Mapping[str, str]


def written(told: PathsTold) -> dict[str, Any]:
    """Return them in their form as plain JSON."""
    return {KEY: [_row(each) for each in told.tests], "links": told.links, "uncovered": dict(told.uncovered)}


def _row(test: PathTest) -> dict[str, Any]:
    return {
        "from": list(test.one),
        "to": list(test.other),
        "leaves": list(test.leaves),
        "flows": test.flows,
        "ways": [[*each.a, *each.b] for each in test.ways],
        "gbitps": test.gbitps,
        "mark": test.mark,
        "apart": test.apart[:LONGEST],
        "untold": test.untold[:LONGEST],
        "kind": test.kind,
    }


def parse(text: str) -> PathsTold:
    """Read them; EvidenceError for a text that is cut, or something else."""
    told = json_object(text, "the tests of paths")
    links, uncovered = number(told.get("links")), told.get("uncovered")
    if links is None or not isinstance(uncovered, dict):
        raise EvidenceError("the tests of paths: expected how many links there are, and which are not covered")
    tests = tuple(_test(each) for each in objects(told.get(KEY), f"the tests of paths: {KEY}"))
    return PathsTold(tests, int(links), {str(name): str(why) for name, why in uncovered.items()})


def _test(row: dict[str, Any]) -> PathTest:
    ends = (*_texts(row.get("from"), 2), *_texts(row.get("to"), 2))
    one, other = Port(*ends[:2]), Port(*ends[2:])
    leaves = _texts(row.get("leaves"), 2)
    ways = row.get("ways")
    ports = [_texts(each, 4) for each in (ways if isinstance(ways, list) else [ways])]
    gbitps, flows = number(row.get("gbitps")), number(row.get("flows"))
    if gbitps is None and row.get("gbitps") is not None:
        raise EvidenceError(f"the test of {one} and {other}: {row['gbitps']!r:.40} Gb/s, expected a number")
    return PathTest(
        one,
        other,
        (leaves[0], leaves[1]),
        int(flows or 0),
        tuple(link(Port(*each[:2]), Port(*each[2:])) for each in ports),
        gbitps,
        number(row.get("mark")),
        str(row.get("apart") or ""),
        str(row.get("untold") or ""),
        str(row.get("kind") or ""),
    )


def _texts(value: Any, count: int) -> tuple[str, ...]:
    cells: Iterable[Any] = value if isinstance(value, list) else ()
    found = tuple(each for each in cells if isinstance(each, str))
    if len(found) != count or len(value) != count:
        raise EvidenceError(f"the tests of paths: found {value!r:.60}, expected {count} names")
    return found
