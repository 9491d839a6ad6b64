"""What the product asks of a NetBox: its own functions, run against a real one and repeated with the stand-in.

They go on after the scenarios of tests/netbox/scenarios.py, in their order and with the same ids.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import init as preparing
from fleet_runner.adapters.netbox import node_fields, page_intents, push
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.core.inventory.netbox.custom_fields import REASON, REQUEST, SINCE, STATE
from fleet_runner.core.inventory.netbox.init.account import Writes
from fleet_runner.core.inventory.netbox.init.wanted import InitOptions, wanted
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Part, Rack, Termination
from tests.netbox.scenarios import SCENARIOS, Site

QUICK = netbox.Timeouts(connect_seconds=10, read_seconds=120, retries=0)
PORTS = (Interface("ib0", "infiniband-ndr"), Interface("bmc", "1000base-t", mgmt_only=True))
NODE_PORTS = (
    Interface("ib0", "infiniband-ndr", guid="0002c90300a1b2c4"),
    Interface("bmc", "1000base-t", "02:00:00:00:01:0a", mgmt_only=True),
)
FLEET = Fleet(
    sites=("Annex",),
    racks={"Annex/B1": Rack("B1", "Annex", 48, location="Row B")},
    device_types={"dgx": DeviceType("dgx", "Nodes Inc", "DGX", 8.0, PORTS)},
    devices={
        "node-1": Device(
            "node-1", "dgx", "gpu-server", "Annex", "B1", 1.0, serial="N1", oob_address="192.0.2.71",
            interfaces=NODE_PORTS, face="front", parts=(Part("HCA 1", "hca", "CX7", "H1"),), context={"a": 1},
        ),
        "sw-1": Device("sw-1", "dgx", "leaf", "Annex", interfaces=PORTS),
    },
    cables=(Cable(Termination("node-1", "ib0"), Termination("sw-1", "ib0"), "B-1", "mmf", status="planned"),),
)  # fmt: skip


def init(site: Site) -> None:
    """Everything that `netbox init` makes, and a second run that finds it all."""
    codes = {kind: template.code for kind, template in netbox.TEMPLATES.items()}
    asked = InitOptions(
        "Made-up-password-1", Writes(cables=True, nodes=True, intents=True), "/token", "https://fleet.example",
        "https://fleet.example/signals/netbox", "made-up", codes,
    )  # fmt: skip
    for _ in range(2):
        with Client(site.url, site.token, QUICK) as client:
            surveyed = preparing.survey(client, wanted(asked))
            failed = [done.why for done in preparing.carry_out(client, surveyed, lambda _: None) if done.why]
            assert failed == []


def pushing(site: Site) -> None:
    """A small site that is pushed, and a second push that writes nothing."""
    for _ in range(2):
        has = netbox.load(site.url, site.token, QUICK)
        with push.opened(site.url, site.token, FLEET, QUICK) as opened:
            pushed = opened.do(opened.plan(has), lambda *_: None)
        assert pushed.conflicts == []


def reading(site: Site) -> None:
    """A first reading, one of nothing new, and one after a device, a cable and an address changed."""
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.json"
        first = netbox.snapshot(site.url, site.token, QUICK, kept)
        again = netbox.snapshot(site.url, site.token, QUICK, kept)
        assert (again.requests, again.rows) == (1, first.rows)
        device = next(row.id for row in first.rows.devices.values() if row.name == "node-1")
        site.ask("PATCH", f"dcim/devices/{device}/?fields=id,serial", {"serial": "N2"})
        netbox.snapshot(site.url, site.token, QUICK, kept)
        site.ask("PATCH", "dcim/manufacturers/1/?fields=id,name", {"name": "Maker & Sons"})
        site.ask("PATCH", "dcim/cables/2/?fields=id,label", {"label": "relabelled"})
        followed = netbox.snapshot(site.url, site.token, QUICK, kept)
        assert followed.rows == netbox.snapshot(site.url, site.token, QUICK).rows


def connecting(site: Site) -> None:
    """A planned cable that a sweep saw, and one that is there no more."""
    found = netbox.load(site.url, site.token, QUICK)
    ids = {cable.id for cable in found.cables if cable.status == "planned" and cable.id}
    assert netbox.connect_cables(site.url, site.token, {*ids, 9999}, QUICK).done == len(ids)


def mirroring(site: Site) -> None:
    """A node's state, journal and serial number."""
    with Client(site.url, site.token, QUICK) as client:
        [page] = node_fields.devices(client, ["node-1"])["node-1"]
        node_fields.set_fields(client, [(page, {STATE: "production", SINCE: "2026-02-01T10:00:00+00:00"})])
        node_fields.add_entries(client, [(page.id, "info", "moved: ref 1"), (page.id, "warning", "held: ref 2")])
        assert node_fields.entries(client, [page.id], "ref 2", "2026-01-01T00:00:00") == ["held: ref 2"]
        [slot] = node_fields.slots(client, page.id)
        assert node_fields.set_serial(client, slot, "H2") == "H2"


def asking(site: Site) -> None:
    """A request that somebody leaves in a page, found, taken and answered."""
    with Client(site.url, site.token, QUICK) as client:
        [page] = node_fields.devices(client, ["node-1"])["node-1"]
        fields = {REQUEST: "hold", REASON: "on loan"}
        site.ask("PATCH", f"dcim/devices/{page.id}/?fields=id,custom_fields", {"custom_fields": fields})
        [seen] = page_intents.waiting(client)
        page_intents.changes(client, page.id)
        assert page_intents.empty(client, seen)
        assert not page_intents.empty(client, seen)
        page_intents.say(client, page.id, "held, as asked: ref 3")
        assert page_intents.said(client, page.id, "ref 3")
        assert page_intents.waiting(client) == []


PRODUCT: Mapping[str, Callable[[Site], None]] = {
    "init": init,
    "pushing": pushing,
    "reading": reading,
    "connecting": connecting,
    "mirroring": mirroring,
    "wishing": asking,
}

ALL = {**SCENARIOS, **PRODUCT}
