"""The design of the simulated data centre: names, places, serial numbers, addresses and cables, all from a count.

Only plain functions and quick imports: the stand-ins, which start many times a minute, read it too.
"""

from typing import NamedTuple

SITE = "lab"
DEVICE_TYPE = "lab-hgx-h100"
SWITCH_TYPE = "lab-qm9700"
ETHERNET_TYPE = "lab-sn2201"
GPU_MODEL = "NVIDIA H100 80GB HBM3"
HCA_MODEL = "ConnectX-7 NDR"
PSU_MODEL = "PWS-3K06G-2R"
ETHERNET_SWITCH = "mgmt-1"
ETHERNET_SWITCH_ADDRESS = "127.20.0.2"
GPUS = 8
RAILS = 8
PSUS = 6
FANS = 10
SPINES = 2
UPLINKS = 2  # cables between one leaf and one spine
SWITCH_PORTS = 64
FIRST_UPLINK = 33  # leaves: servers below, spines from here on
MOST_SERVERS = FIRST_UPLINK - 1
RACK_SERVERS = 4
SERVER_UNITS = 8

GPU_BUSES = ("1B", "43", "52", "61", "9D", "C3", "D1", "DF")
"""The PCI buses of the eight GPUs of an HGX H100, in nvidia-smi's order."""


class Plug(NamedTuple):
    """One cable, by its two ends."""

    a: str
    a_port: str
    b: str
    b_port: str


class RackPosition(NamedTuple):
    """A device's rack and its lowest unit."""

    rack: str
    unit: int


def server(index: int) -> str:
    """Return the name of the server with this number, counted from 1."""
    return f"gpu-{index:02d}"


def index(name: str) -> int:
    """Return the number in a device's name: gpu-03 is 3, leaf-2 is 2."""
    return int(name.rsplit("-", 1)[1])


def leaves() -> tuple[str, ...]:
    """Return the leaf switches: one per rail."""
    return tuple(f"leaf-{rail + 1}" for rail in range(RAILS))


def spines() -> tuple[str, ...]:
    """Return the spine switches."""
    return tuple(f"spine-{number + 1}" for number in range(SPINES))


def server_place(number: int) -> RackPosition:
    """Return where a server stands: four of eight units each to a rack."""
    rack, slot = divmod(number - 1, RACK_SERVERS)
    return RackPosition(f"A{rack + 1:02d}", 1 + slot * SERVER_UNITS)


def switch_places() -> dict[str, RackPosition]:
    """Return where the switches stand: all in the network rack."""
    places = {name: RackPosition("N01", unit) for unit, name in enumerate(leaves(), start=1)}
    places |= {name: RackPosition("N01", unit) for unit, name in enumerate(spines(), start=20)}
    return places | {ETHERNET_SWITCH: RackPosition("N01", 40)}


def hca_guid(number: int, rail: int) -> str:
    """Return the port GUID of a server's HCA: 16 hex digits."""
    return f"b83fd20300{number:04x}{rail:02x}"


def switch_guid(name: str) -> str:
    """Return a switch's node GUID."""
    return f"fc6a1c0300{'a0' if name.startswith('leaf') else 'b0'}{index(name):04x}"


def mac(number: int) -> str:
    """Return the address of a server's eth0."""
    return f"b8:3f:d2:1e:00:{number:02x}"


def address(number: int) -> str:
    """Return a server's address in the management network; this computer is all of it, so it is one of its own."""
    return f"127.20.0.{10 + number}"


def uuid(number: int) -> str:
    """Return the UUID that a server's firmware knows."""
    return f"4c414247-0000-4000-8000-{number:012x}"


def gpu_serial(number: int, gpu: int) -> str:
    """Return the serial number of one GPU: 13 digits, as NVIDIA's boards have."""
    return f"16533230{number:03d}{gpu:02d}"


def gpu_uuid(number: int, gpu: int) -> str:
    """Return the UUID that nvidia-smi shows for one GPU."""
    return f"GPU-5c1a0d{number:02x}-77f{gpu:x}-4e0b-9a51-0242ac{number:02x}{gpu:04x}"


def hca_serial(number: int, rail: int) -> str:
    """Return the serial number of one HCA."""
    return f"MT2333XZ{number:03d}{rail:02d}"


def psu_serial(number: int, psu: int) -> str:
    """Return the serial number of one power supply."""
    return f"P3K06A{number:03d}{psu:02d}"


def server_serial(number: int) -> str:
    """Return a server's serial number."""
    return f"LAB-S{number:05d}"


def switch_serial(name: str) -> str:
    """Return a switch's serial number."""
    return f"LAB-{name.upper()}"


def cables(servers: int) -> tuple[Plug, ...]:
    """Return every designed cable: rails to their leaves, leaves to the spines, eth0 to the Ethernet switch."""
    rails = (
        Plug(server(number), f"ib{rail}", leaf, str(number))
        for number in range(1, servers + 1)
        for rail, leaf in enumerate(leaves())
    )
    ups = (
        Plug(leaf, str(FIRST_UPLINK + at * UPLINKS + way), spine, str((index(leaf) - 1) * UPLINKS + way + 1))
        for leaf in leaves()
        for at, spine in enumerate(spines())
        for way in range(UPLINKS)
    )
    management = (Plug(server(number), "eth0", ETHERNET_SWITCH, f"swp{number}") for number in range(1, servers + 1))
    return (*rails, *ups, *management)
