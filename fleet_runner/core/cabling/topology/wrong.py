"""Which designed links the findings of a sweep are about: a finding names ports in words, or a whole device."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.checks.verdicts import Finding, Result
from fleet_runner.core.faults.confirmation import speaks, suspect, unsure

WHOLE = frozenset({"cabling.dark", "cabling.exchanged", "cabling.unplanned"})
"""Kinds that are about every link of a device."""


def wrong(links: Iterable[Link], findings: Iterable[Finding]) -> dict[Link, tuple[Finding, ...]]:
    """Return the links that are not as designed, each with the findings that say so."""
    of: dict[str, list[Link]] = defaultdict(list)
    for joined in links:
        for device in {joined.a.device, joined.b.device}:
            of[device].append(joined)
    found: dict[Link, tuple[Finding, ...]] = {}
    for finding in findings:
        for joined in _about(of, finding):
            found[joined] = (*found.get(joined, ()), finding)
    return found


def untold(links: Iterable[Link], result: Result | None) -> frozenset[Link]:
    """Return the links of which a sweep could not tell anything: all, where it said nothing or is not believed."""
    if result is None or not speaks(result) or suspect(result) is not None:
        return frozenset(links)
    if not (doubtful := unsure(result)):
        return frozenset()
    alone = frozenset(device for each in doubtful if len(each) == 1 for device in each)
    ends = ((joined, frozenset({joined.a.device, joined.b.device})) for joined in links)
    return frozenset(joined for joined, both in ends if both in doubtful or not alone.isdisjoint(both))


def _about(of: Mapping[str, list[Link]], finding: Finding) -> list[Link]:
    devices = dict.fromkeys((*finding.devices, *finding.nodes))
    near = dict.fromkeys(joined for device in devices for joined in of.get(device, ()))
    if finding.code in WHOLE:
        return list(near)
    text = f"{finding.component}, {finding.message}"
    named = {port: _names(text, port) for joined in near for port in joined if port.device in devices}
    return [joined for joined in near if named.get(joined.a) or named.get(joined.b)]


def _names(text: str, port: Port) -> bool:
    """Whether a text names a port: "leaf-1 p1" is not in "leaf-1 p12"."""
    said = f"{port}"
    return said in text and re.search(rf"(?<![\w.-]){re.escape(said)}(?![\w/-]|[.:]\w)", text) is not None
