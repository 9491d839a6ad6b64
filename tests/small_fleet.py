"""One node with everything, a leaf, and the cable between them."""

from dataclasses import replace

from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Part, Rack, Termination

PORTS = (
    Interface("bmc", "1000base-t", mgmt_only=True),
    Interface("eth0", "1000base-t", "02:00:00:00:00:01"),
    Interface("ib0", "infiniband-ndr", guid="0002c90300a1b2c3"),
)
TYPE = DeviceType("hgx", "Maker", "HGX", 8.0, tuple(replace(port, mac=None, guid=None) for port in PORTS))
NODE = Device(
    "gpu-1", "hgx", "gpu-server", "hall", "A1", 1.0, serial="S1", oob_address="192.0.2.7",
    primary_address="192.0.2.8", tenant="Acme", interfaces=PORTS,
    parts=(Part("GPU 0", "gpu", "H100", "G0"),), context={"a": {"b": 1}},
)  # fmt: skip
LEAF = Device("leaf-1", "hgx", "leaf", "hall", interfaces=TYPE.interfaces)
ENDS = Termination("gpu-1", "ib0"), Termination("leaf-1", "ib0")
FLEET = Fleet(
    sites=("hall",),
    racks={"hall/A1": Rack("A1", "hall", 20, location="Row A")},
    device_types={"hgx": TYPE},
    devices={"gpu-1": NODE, "leaf-1": LEAF},
    cables=(Cable(*ENDS, "C1", "mmf", id=7),),
)
