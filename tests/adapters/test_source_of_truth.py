"""What both sources of truth do: a folder of site files, and a NetBox."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from fleet_runner.adapters import netbox, sitefiles
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Rack, Termination
from tests.adapters.netbox.standin import TOKEN, as_netbox, serving
from tests.adapters.sitefiles.writer import write_site
from tests.examples import examples
from tests.fleets import fleets

Read = Callable[[Fleet], Fleet]
PATIENCE = netbox.Timeouts(connect_seconds=5, read_seconds=30, retries=0)


def read_site(fleet: Fleet) -> Fleet:
    """Write a fleet as site files and read them."""
    with TemporaryDirectory() as folder:
        write_site(fleet, Path(folder))
        return sitefiles.load(Path(folder))


@pytest.fixture(scope="module", params=["site files", "NetBox"])
def read(request: pytest.FixtureRequest) -> Iterator[Read]:
    """Keeps a fleet in one kind of source and reads it from there."""
    if request.param == "site files":
        yield read_site
        return
    with serving({}) as standin:

        def read_netbox(fleet: Fleet) -> Fleet:
            standin.lists = as_netbox(fleet)
            found = netbox.load(standin.url, TOKEN, PATIENCE)
            if not found.notes:
                assert {cable.id for cable in found.cables} == {row["id"] for row in standin.lists["cables"]}
            return replace(found, cables=tuple(replace(cable, id=None) for cable in found.cables))

        yield read_netbox


@given(fleet=fleets())
@settings(max_examples=examples(60), deadline=None)
def test_what_is_written_is_what_is_read(read: Read, fleet: Fleet) -> None:
    found = read(fleet)
    assert replace(found, revision="") == fleet
    assert found.revision


def test_the_revision_changes_when_a_record_does(read: Read) -> None:
    changed = replace(GOOD, sites=(*GOOD.sites, "one more"))
    assert read(GOOD).revision == read(GOOD).revision != read(changed).revision


def problems(read: Read, fleet: Fleet) -> list[str]:
    """Return what is said of a fleet that contradicts itself: files are refused, of a NetBox each record alone."""
    try:
        return list(read(fleet).notes)
    except SourceError as error:
        first, *lines = str(error).splitlines()
        assert "nothing was changed" in first
        return [line.strip() for line in lines]


PORTS = (Interface("ib0", "infiniband-ndr"), Interface("ib1", "infiniband-ndr"))
NODE = Device("gpu-1", "hgx", "gpu-server", "hall", rack="A1", position=1.0, interfaces=PORTS)
PEER = replace(NODE, name="gpu-2", position=9.0)
GOOD = Fleet(
    sites=("hall",),
    racks={"hall/A1": Rack("A1", "hall", 20)},
    device_types={"hgx": DeviceType("hgx", "Maker", "HGX", 8.0, PORTS)},
    devices={"gpu-1": NODE, "gpu-2": PEER},
    cables=(Cable(Termination("gpu-1", "ib0"), Termination("gpu-2", "ib0")),),
)


def with_device(**changes: object) -> Fleet:
    """The good fleet with its second device changed."""
    return replace(GOOD, devices={"gpu-1": NODE, "gpu-2": replace(PEER, **changes)})


@pytest.mark.parametrize(
    ("fleet", "said"),
    [
        (with_device(rack="A2"), ["gpu-2", "A2", "hall", "expected 'A1'"]),
        (with_device(position=2.0), ["gpu-2", "gpu-1", "both fill U2", "A1"]),
        (with_device(position=14.0), ["gpu-2", "U14 to U21", "U1 to U20"]),
        (with_device(rack=None), ["gpu-2", "position 9", "no rack"]),
        (with_device(site="hal"), ["gpu-2", "'hal'", "expected 'hall'"]),
        (with_device(context={"fleet_device": 1}), ["gpu-2", "fleet_device"]),
        (replace(GOOD, racks={"hall/A1": Rack("A1", "hall", 4)}), ["gpu-1", "8 units", "A1", "has 4"]),
        (
            replace(
                GOOD, cables=(*GOOD.cables, Cable(Termination("gpu-1", "ib0"), Termination("gpu-2", "ib1"), "B"))
            ),
            ["gpu-1 ib0", "already has the cable"],
        ),
    ],
)
def test_a_contradiction_is_one_error_that_says_where(read: Read, fleet: Fleet, said: list[str]) -> None:
    problem = next(each for each in problems(read, fleet) if all(word in each for word in said))
    assert "devices/" in problem or "cables/" in problem or ".yml:" in problem


def test_only_twenty_problems_are_told_and_the_rest_counted(read: Read) -> None:
    many = {f"gpu-{n}": replace(NODE, name=f"gpu-{n}", rack="B9", position=None, interfaces=PORTS) for n in range(30)}
    lines = problems(read, replace(GOOD, devices=many, cables=()))
    assert len(lines) == 21
    assert "10 more" in lines[-1]
