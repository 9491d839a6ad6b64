"""The lab's boot server comes up with the lab, moves when its port is taken, and can ask for proof by the BMC."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory import ansible
from fleet_runner.lab import boot_server, hardware, ports, processes
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, LabError, read, write, write_json
from fleet_runner.lab.up import BMC, up
from fleet_runner.services.boot import arming
from fleet_runner.settings import Settings
from tests.lab.bench import wait


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A lab of one server with a boot service."""
    made = up(tmp_path / "lab", 1, boot_seconds=0.0, boot_service=True)
    try:
        yield made
    finally:
        down(made)


def again(lab: Lab) -> None:
    """Start the boot service anew."""
    processes.end(lab, boot_server.SERVICE)
    boot_server.start(lab)
    boot_server.wait(lab)


def test_the_boot_service_goes_down_with_the_lab_and_comes_up_where_it_was(lab: Lab) -> None:
    for secret in ("dhcp.token", "munge.key", "state/boot.key"):
        assert (lab.root / secret).stat().st_mode & 0o777 == 0o600
    before = read(lab.about)
    assert down(lab) == 2
    up(lab.root)
    assert read(lab.about) == before
    down(lab)
    with socket.socket() as other:
        other.bind(("127.0.0.1", before["boot_port"]))
        other.listen()
        up(lab.root)
    now = read(lab.about)["boot_port"]
    assert now != before["boot_port"]
    assert lab.settings.read_text("utf-8").count(f'127.0.0.1:{now}"') == 2


def test_a_boot_service_that_cannot_start_takes_the_lab_down_with_a_reason(lab: Lab) -> None:
    down(lab)
    write(lab.settings, lab.settings.read_text("utf-8") + 'boot_certificate = "nowhere.pem"\n')
    with pytest.raises(LabError, match=r"the boot service did not start .*; read .*boot\.log"):
        up(lab.root)
    assert processes.running(lab, BMC) is None


def test_who_only_takes_connections_is_no_boot_service_that_is_up(lab: Lab) -> None:
    """Ours listens before it has loaded, and another program may have the port."""
    down(lab)
    with socket.create_server((ports.HERE, 0)) as silent:
        write_json(lab.about, {**read(lab.about), "boot_port": silent.getsockname()[1]})
        with pytest.raises(LabError, match="the boot service did not start"):
            boot_server.wait(lab)


def test_a_nonce_that_only_the_bmc_was_given_proves_who_boots(lab: Lab) -> None:
    """UEFI HTTP boot: the firmware fetches its loader from an address with the nonce in it."""
    (lab.root / "loaders").mkdir()
    (lab.root / "loaders" / "snponly.efi").write_bytes(b"MZ")
    write(lab.settings, lab.settings.read_text("utf-8") + 'boot_proof = "bmc"\nboot_loaders = "loaders"\n')
    again(lab)
    known = yaml.safe_load(lab.credentials.read_text("utf-8"))
    about, fleet = read(lab.about), sitefiles.load(lab.site)
    device = fleet.devices["gpu-01"]
    settings = Settings(boot_proof="bmc", boot_url=f"http://127.0.0.1:{about['boot_port']}")
    with Store.open(f"sqlite:///{lab.root / 'state' / 'fleet.db'}") as store:
        store.register([device], time.time())
        with Bmc(f"http://127.0.0.1:{about['bmc_ports']['gpu-01']}", **known) as bmc:
            facts = ansible.hostvars(fleet, device)["fleet_device"]
            told = bmc.read("/redfish/v1/Systems/1")["/redfish/v1/Systems/1"]
            wanted = arming.wanted(settings, facts, told, "UefiHttp")
            made = arming.arm(store, wanted, run=None, now=time.time())
            bmc.boot_once("Pxe")
            bmc.power("On")
            wait(lambda: store.boot_events("gpu-01")[-1].code == "unproved")
            bmc.power("ForceOff")
            bmc.boot_once(made.target, made.http_uri)
            bmc.power("On")
        wait(lambda: hardware.up(lab, "gpu-01"))
        assert "proved" in [event.kind for event in store.boot_events("gpu-01")]
        assert made.nonce not in lab.log.read_text("utf-8") + (lab.root / "boot.log").read_text("utf-8")
