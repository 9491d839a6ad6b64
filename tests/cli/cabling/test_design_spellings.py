"""A design in every form, spelled in every known way: its cables are the same, and no right one is in a plan."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_runner.cli.cabling import forms
from fleet_runner.core.cabling.links import Link
from tests.cli.cabling.fabric_forms import INFINIBAND
from tests.cli.cabling.test_forms import FORMS
from tests.core.cabling.test_many_spellings import Spelled, spelled_stories
from tests.core.cabling.test_spellings import judged, noise, spelled, told
from tests.examples import examples

FABRICS = 5_000
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
ENDS = st.sampled_from(["\n", "\r\n", "\r\r\n"])


def topology(links: Iterable[Link]) -> str:
    """Write a topology file with the ports as the design spells them, of servers with their one port."""
    return "# Topology file\n\n" + "\n\n".join(
        f"MQM9700 {b.device}\n   {b.interface} -4x-100G-> HCA_1 {a.device} {a.interface}/P1"
        if a.device.lower().startswith("gpu")
        else f"MQM9700 {b.device}\n   {b.interface} -4x-100G-> MQM9700 {a.device} {a.interface}"
        for a, b in links
    )


DESIGNS = {name: form for name, form in FORMS.items() if "two sheets" not in name} | {"topology file": topology}


def read(raw: str | bytes) -> tuple[Link, ...]:
    """Return the cables of a design in a file whose name tells nothing."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "design"
        file.write_bytes(raw.encode() if isinstance(raw, str) else raw)
        return tuple(row.link for row in forms.read([file]))


def spares(it: Spelled, design: str, form: str, lines: list[tuple[int, str]], end: str) -> None:
    """Fail where the form says other cables than the design's, or a right one is in a fault."""
    wanted = spelled(it.story.designed, dict(it.ports), dict(it.devices))
    found = read(DESIGNS[design](wanted.values()))
    assert len(found) == len(wanted)
    if design != "topology file":
        assert {*found} == {*wanted.values()}
    verdicts = judged(found, told(it.story.observed, form, lines, end), dict(it.devices))
    right = {ends(wanted[each]) for each in it.story.designed if each in it.story.observed}
    for fault in verdicts.faults:
        assert right.isdisjoint(map(ends, (*fault.expected, *fault.observed)))


def ends(joined: Link) -> frozenset[tuple[str, str]]:
    """Return a cable's ends, a server's without the port of its adapter."""
    return frozenset((port.device, port.interface.removesuffix("/P1").removesuffix("/1")) for port in joined)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=SLOW)
@given(spelled_stories(), st.sampled_from(sorted(DESIGNS)), st.sampled_from(sorted(INFINIBAND)), noise, ENDS)
def test_a_right_cable_of_a_design_in_any_form_is_in_no_plan(
    it: Spelled, design: str, form: str, lines: list[tuple[int, str]], end: str
) -> None:
    spares(it, design, form, lines, end)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("design", sorted(DESIGNS))
@settings(max_examples=FABRICS // len(DESIGNS), deadline=None, suppress_health_check=SLOW)
@given(spelled_stories(), st.sampled_from(sorted(INFINIBAND)), noise, ENDS)
def test_a_right_cable_is_in_no_plan_of_thousands_of_designs(
    design: str, it: Spelled, form: str, lines: list[tuple[int, str]], end: str
) -> None:
    spares(it, design, form, lines, end)
