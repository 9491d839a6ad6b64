"""What NetBox shops have beside nodes and straight cables: each is read, or is left out alone with the reason."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest

from fleet_runner.core.inventory.records import Device, Fleet
from tests.netbox.live.hall import Hall, before_mappings, end
from tests.netbox.live.place import Place, Row

Read = Callable[[], Fleet]
Make = Callable[..., int]

PORTS = 8


class Shop:
    """Objects of one test, beside the hall, and how they are taken away."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.place = hall, hall.place
        self.made: list[tuple[str, int]] = []
        self.ports: dict[int, dict[str, int]] = {}

    def make(self, path: str, **values: Any) -> int:
        """Make an object that `away` takes away."""
        number = int(self.place.make(path, **values)["id"])
        self.made.append((path, number))
        return number

    def name(self, short: str) -> str:
        """Return a name of ours."""
        return self.hall.name(short)

    def device(self, short: str | None, kind: str = "switch", role: str = "leaf", **more: Any) -> int:
        """Make a device in the hall's site, unless another one is given."""
        about = {"device_type": self.hall.types[kind], "role": self.hall.roles[role], "site": self.hall.where["site"]}
        named = {} if short is None else {"name": self.name(short)}
        return self.make("dcim/devices", **{**about, **named, **more})

    def port(self, device: int, name: str) -> Row:
        """Return an interface of a device as an end of a cable."""
        if name not in self.ports.get(device, ()):
            rows = self.place.rows("dcim/interfaces", device_id=device)
            self.ports[device] = {row["name"]: row["id"] for row in rows}
        return end("dcim.interface", self.ports[device][name])

    def cable(self, a: list[Row], b: list[Row], label: str, **more: Any) -> None:
        """Lay a cable."""
        self.cables([(a, b, label)], **more)

    def cables(self, laid: Iterable[tuple[list[Row], list[Row], str]], **more: Any) -> None:
        """Lay cables, each by its ends and its label."""
        rows = [{"a_terminations": a, "b_terminations": b, "label": self.name(label), **more} for a, b, label in laid]
        self.made += [("dcim/cables", int(row["id"])) for row in self.place.make_all("dcim/cables", rows)]

    def panel(self, short: str, rears: int, positions: int) -> tuple[list[int], list[int]]:
        """Make a patch panel; return its front ports' ids, rear port by rear port, and its rear ports'."""
        device = self.device(short, "panel", "patch-panel")
        rears_made = self.place.make_all(
            "dcim/rear-ports",
            [{"device": device, "name": f"R{rear}", "type": "mpo", "positions": positions} for rear in range(rears)],
        )
        found, ports, older = [int(row["id"]) for row in rears_made], [], before_mappings(self.place)
        for rear, number in enumerate(found):
            for position in range(1, positions + 1):
                port = {"device": device, "name": f"F{rear}-{position}", "type": "lc"}
                behind = {"rear_port": number, "rear_port_position": position}
                ports.append({**port, **(behind if older else {"rear_ports": [{"position": 1, **behind}]})})
        return [int(row["id"]) for row in self.place.make_all("dcim/front-ports", ports)], found

    def away(self) -> None:
        """Take everything away, the newest first."""
        for path, group in groupby(reversed(self.made), key=itemgetter(0)):
            numbers = [number for _, number in group]
            there = {row["id"] for row in self.place.rows(path, id=numbers)}
            self.place.remove(path, [number for number in numbers if number in there])


@pytest.fixture
def shop(hall: Hall) -> Iterator[Shop]:
    """A shop beside the hall, which is as it was afterwards."""
    found = Shop(hall)
    yield found
    found.away()


def ours(fleet: Fleet, hall: Hall) -> dict[str, Device]:
    return {name: each for name, each in fleet.devices.items() if name.startswith(hall.place.prefix)}


def links(fleet: Fleet, hall: Hall, label: str) -> list[tuple[str, str]]:
    found = [(str(each.a), str(each.b)) for each in fleet.cables if each.label == hall.name(label)]
    return [tuple(sorted(pair)) for pair in found]  # type: ignore[misc]  two ends are two


def later(place: Place) -> None:
    """Skip before NetBox 4.5, which has no cable profiles."""
    if before_mappings(place):
        pytest.skip("NetBox has cable profiles since 4.5")


def test_modules_are_parts_and_their_interfaces_the_devices(shop: Shop, hall: Hall, fleet: Read) -> None:
    """A module in a bay of a module, too."""
    maker = shop.place.rows("dcim/manufacturers", name=hall.name("maker"))[0]["id"]
    riser = shop.make("dcim/module-types", manufacturer=maker, model=hall.name("riser"))
    shop.make("dcim/module-bay-templates", module_type=riser, name="PCIe 1")
    card = shop.make("dcim/module-types", manufacturer=maker, model=hall.name("nic"))
    shop.make("dcim/interface-templates", module_type=card, name="nic-p1", type="infiniband-ndr")
    box = shop.device("modular", "server", "gpu-server", serial=hall.name("M1"))
    bay = shop.make("dcim/module-bays", device=box, name="Slot 1")
    shop.make("dcim/modules", device=box, module_bay=bay, module_type=riser, serial="R1", status="active")
    (inner,) = (row["id"] for row in shop.place.rows("dcim/module-bays", device_id=box) if row["name"] == "PCIe 1")
    shop.make("dcim/modules", device=box, module_bay=inner, module_type=card, serial="N1", status="active")
    leaf = shop.device("modular-leaf")
    shop.cable([shop.port(box, "nic-p1")], [shop.port(leaf, "1")], "modular")
    found = fleet()
    device = found.devices[hall.name("modular")]
    assert {(part.slot, part.model, part.serial) for part in device.parts} == {
        ("Slot 1", hall.name("riser"), "R1"),
        ("PCIe 1", hall.name("nic"), "N1"),
    }
    assert "nic-p1" in {port.name for port in device.interfaces}
    assert links(found, hall, "modular") == [(f"{hall.name('modular')} nic-p1", f"{hall.name('modular-leaf')} 1")]


def test_a_breakout_with_a_profile_is_a_link_for_each_lane(shop: Shop, hall: Hall, fleet: Read) -> None:
    later(shop.place)
    one, other = shop.device("split-1"), shop.device("split-2")
    far = [shop.port(other, str(number)) for number in (4, 3, 2, 1)]
    shop.cable([shop.port(one, "1")], far, "split", profile="breakout-1c4p-4c1p")
    assert sorted(links(fleet(), hall, "split")) == [
        (f"{hall.name('split-1')} 1", f"{hall.name('split-2')} {number}") for number in (1, 2, 3, 4)
    ]


def test_a_shuffle_is_followed_as_netbox_traces_it(shop: Shop, hall: Hall, fleet: Read) -> None:
    """Every position of two MPO cassettes with a shuffled trunk between them, in two rooms."""
    later(shop.place)
    (near, rears), (far, others) = shop.panel("room-1", 2, 4), shop.panel("room-2", 2, 4)
    here, there = ([end("dcim.rearport", number) for number in numbers] for numbers in (rears, others))
    shop.cable(here, there, "shuffle", profile="trunk-2c4p-shuffle")
    leaf, spine = shop.device("shuffle-leaf"), shop.device("shuffle-spine")
    shop.cables(
        ([shop.port(box, str(at + 1))], [end("dcim.frontport", fronts[at])], f"{name}-{at}")
        for at in range(PORTS)
        for box, fronts, name in ((leaf, near, "leaf"), (spine, far, "spine"))
    )
    mine = {
        tuple(sorted((each.a, each.b)))
        for each in fleet().cables
        if each.a.device == hall.name("shuffle-leaf") or each.b.device == hall.name("shuffle-leaf")
    }
    traced = set()
    for row in shop.place.rows("dcim/interfaces", device_id=leaf):
        for peer in row["connected_endpoints"] or ():
            pair = ((hall.name("shuffle-leaf"), row["name"]), (peer["device"]["name"], peer["name"]))
            traced.add(tuple(sorted(pair)))
    assert len(traced) == PORTS
    assert mine == traced


def test_racks_of_one_name_in_two_rooms_are_two(shop: Shop, hall: Hall, fleet: Read) -> None:
    site = hall.where["site"]
    floor = shop.make("dcim/locations", name=hall.name("floor"), slug=hall.name("floor"), site=site)
    rooms = [
        shop.make("dcim/locations", name=hall.name(room), slug=hall.name(room), site=site, parent=floor)
        for room in ("room-a", "room-b")
    ]
    racks = [shop.make("dcim/racks", name=hall.name("B01"), site=site, location=room) for room in rooms]
    shop.device("placed", rack=racks[1], location=rooms[1], position=3, face="front")
    found = fleet()
    assert found.devices[hall.name("placed")].rack == f"{hall.name('room-b')} {hall.name('B01')}"
    assert {f"{hall.site}/{hall.name(room)} {hall.name('B01')}" for room in ("room-a", "room-b")} <= set(found.racks)


def test_nodes_of_one_name_in_two_sites_are_left_out_and_no_others(shop: Shop, hall: Hall, fleet: Read) -> None:
    away = shop.make("dcim/sites", name=hall.name("away"), slug=hall.name("away"))
    before = ours(fleet(), hall)
    shop.device("twin", "server", "gpu-server", serial=hall.name("T1"))
    shop.device("twin", "server", "gpu-server", serial=hall.name("T2"), site=away)
    found = fleet()
    assert ours(found, hall) == before
    assert f"2 devices are called '{hall.name('twin')}'" in found.unread[hall.name("twin")]


def test_what_is_half_modelled_or_has_no_name_takes_nothing_away(shop: Shop, hall: Hall, fleet: Read) -> None:
    before = ours(fleet(), hall)
    shop.device(None, "server", "gpu-server")
    shop.device(None)
    shop.device("bad name", "server", "gpu-server")
    found = fleet()
    assert ours(found, hall) == before
    assert "cannot be an Ansible host" in found.unread[hall.name("bad name")]
    assert [note for note in found.notes if "found a gpu-server without a name" in note]


def test_members_of_a_virtual_chassis_answer_as_its_master(shop: Shop, hall: Hall, fleet: Read) -> None:
    """And an interface has its first MAC address, however many more it has."""
    chassis = shop.make("dcim/virtual-chassis", name=hall.name("stack"))
    master = shop.device("stack-1", virtual_chassis=chassis, vc_position=1)
    member = shop.device("stack-2", virtual_chassis=chassis, vc_position=2)
    shop.place.change("dcim/virtual-chassis", chassis, master=master)
    row = shop.make("dcim/interfaces", device=member, name="2/1", type="infiniband-ndr")
    first, _ = (
        shop.make(
            "dcim/mac-addresses",
            mac_address=f"02:00:5E:00:53:0{number}",
            assigned_object_type="dcim.interface",
            assigned_object_id=row,
            description=hall.name("mac"),
        )
        for number in (1, 2)
    )
    shop.place.change("dcim/interfaces", row, primary_mac_address=first)
    leaf = shop.device("stack-leaf")
    shop.cable([end("dcim.interface", row)], [shop.port(leaf, "1")], "stack")
    found = fleet()
    (port,) = (each for each in found.devices[hall.name("stack-1")].interfaces if each.name == "2/1")
    assert port.mac == "02:00:5e:00:53:01"
    assert links(found, hall, "stack") == [(f"{hall.name('stack-1')} 2/1", f"{hall.name('stack-leaf')} 1")]
    shop.place.change("dcim/virtual-chassis", chassis, master=None)
