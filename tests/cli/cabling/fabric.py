"""A fabric of two Ethernet rails, whose nodes are in production and idle."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from tests.adapters.sitefiles.writer import write_site
from tests.cli.checks.test_allreduce import WAY, come, idle

FABRIC = "ethernet.hall"
NAMES = ("gpu-01", "gpu-02", "gpu-03", "gpu-04")
LEAVES, SPINES = ("leaf-1", "leaf-2"), ("spine-1", "spine-2")

End = tuple[str, str]


def cables(leaves: tuple[str, ...]) -> list[tuple[End, End]]:
    """Return a rail for each leaf, with every node at it, and each leaf at both spines."""
    rails = [
        ((name, f"eth{rail}"), (leaf, f"Ethernet{at}"))
        for at, name in enumerate(NAMES)
        for rail, leaf in enumerate(leaves)
    ]
    ups = [
        ((leaf, f"Ethernet{48 + up}"), (spine, f"Ethernet{at}"))
        for at, leaf in enumerate(leaves)
        for up, spine in enumerate(SPINES)
    ]
    return [*rails, *ups]


BMC = (("gpu-01", "bmc"), ("leaf-2", "Ethernet40"))


def fleet(leaves: tuple[str, ...] = LEAVES) -> Fleet:
    """Return rails of Ethernet below two spines, of which one leaf can be asked; a BMC sits at the second."""
    ports: dict[str, list[str]] = {}
    for device, port in (end for cable in (*cables(leaves), BMC) for end in cable):
        ports.setdefault(device, []).append(port)
    devices = {
        name: Device(
            name=name,
            device_type="hgx" if name in NAMES else "switch",
            role="gpu-server" if name in NAMES else "leaf",
            site="hall",
            primary_address=f"192.0.2.{10 + NAMES.index(name)}/24" if name in NAMES else None,
            interfaces=tuple(Interface(port, "400gbase-x-qsfp112", mgmt_only=port == "bmc") for port in mine),
        )
        for name, mine in ports.items()
    }
    asked = {"ansible_network_os": "arista.eos.eos"}
    devices["leaf-1"] = replace(devices["leaf-1"], primary_address="192.0.2.1/24", context=asked)
    types = {slug: DeviceType(slug, "M", slug, 1.0) for slug in ("hgx", "switch")}
    joined = tuple(Cable(Termination(*one), Termination(*other)) for one, other in (*cables(leaves), BMC))
    return Fleet(("hall",), {}, types, devices, joined)


@contextmanager
def serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str = "", leaves: tuple[str, ...] = LEAVES
) -> Iterator[Store]:
    """All nodes are in production, and say that they are idle; `profile` is the text of their device type's file."""
    made_of = fleet(leaves)
    write_site(made_of, tmp_path / "site")
    monkeypatch.setenv("FLEET_SOURCE", str(tmp_path / "site"))
    group_vars = tmp_path / "inventory" / "group_vars"
    group_vars.mkdir(parents=True)
    if profile:
        (group_vars / "device_type_hgx.yml").write_text(profile)
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory" / "fleet.yml"))
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        nodes = [made_of.devices[name] for name in NAMES]
        made.register([*nodes, *(each.record for each in fabrics(made_of))], 1.0)
        for name in NAMES:
            come(made, name, *WAY)
            idle(made, name)
        yield made
