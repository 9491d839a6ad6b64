"""A boot is armed for who is expected, and what is still on its way is not made again."""

import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.boots import Milestone, PhonedHome, Reached
from fleet_runner.core.boot.progress import LIMITS, Progress, allowed, missing
from fleet_runner.core.inventory.records import Device
from fleet_runner.services.boot import arming
from fleet_runner.settings import Settings

NODE = "gpu-01"
URL = "http://10.0.0.1:8480"
DEVICE: dict[str, Any] = {
    "name": NODE,
    "serial": "S1",
    "primary_address": "10.0.0.9/24",
    "interfaces": [{"name": "eth0", "kind": "1000base-t", "mac": "b8:3f:d2:00:00:01"}],
}
TOLD = {"SerialNumber": "S1", "UUID": "4c4c4544-0051-3410-8057-b4c04f4e3233"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store that knows the node."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as made:
        made.register([Device(NODE, "lab", "gpu-server", "lab")], 1.0)
        yield made


def arm(store: Store, target: str = arming.PXE, **changed: Any) -> arming.Armed:
    settings = Settings(boot_url=f"{URL}/", **changed)
    return arming.arm(store, arming.wanted(settings, DEVICE, TOLD, target), run=None, now=time.time())


def test_a_boot_is_armed_for_who_is_expected_and_as_long_as_the_settings_say(store: Store) -> None:
    armed = arm(store, boot_armed_seconds=7200)
    assert (armed.target, armed.http_uri, armed.nonce) == ("Pxe", "", "")
    [boot] = store.open_boots()
    assert boot == armed.boot
    assert boot.expires_at == boot.armed_at + 7200
    assert boot.expected.macs == {"b8:3f:d2:00:00:01"}
    assert (boot.expected.serial, boot.expected.uuid) == ("S1", TOLD["UUID"])
    assert boot.expected.addresses == {"10.0.0.9"}
    assert boot.nonce_hash == ""


def test_over_http_the_bmc_is_told_what_to_load(store: Store) -> None:
    armed = arm(store, arming.HTTP)
    wanted = arming.wanted(Settings(boot_url=f"{URL}/"), DEVICE, TOLD, arming.HTTP)
    assert wanted.source == (armed.target, armed.http_uri), "known before it is armed"
    assert arming.wanted(Settings(boot_url=f"{URL}/"), DEVICE, TOLD, arming.PXE).source == ("Pxe", "")
    assert (armed.target, armed.http_uri) == ("UefiHttp", f"{URL}/loader/snponly.efi")


def test_where_proof_is_asked_only_the_bmc_gets_the_nonce_and_the_store_its_hash(store: Store) -> None:
    armed = arm(store, boot_proof="bmc")
    assert armed.http_uri == f"{URL}/loader/{armed.nonce}/snponly.efi"
    assert armed.target == "UefiHttp"
    assert len(armed.nonce) == 2 * arming.NONCE_BYTES
    assert store.open_boots()[0].nonce_hash == sha256(armed.nonce.encode()).hexdigest()
    assert armed.without_nonce(f"no such file {armed.http_uri}") == f"no such file {URL}/loader/…/snponly.efi"
    assert armed.without_nonce(f"{URL}/loader/{armed.nonce[:9]}") == f"{URL}/loader/…"
    assert armed.without_nonce("deadline of 12345 s") == "deadline of 12345 s"
    assert arm(store, boot_proof="bmc").nonce != armed.nonce


def test_a_boot_stays_armed_for_as_long_as_its_data_is_waited_for(store: Store) -> None:
    """With limits of a role's own, too, however late each milestone before that is reached."""
    own = {**LIMITS, Milestone.DHCP: 3600.0}
    settings = Settings(boot_url=URL, boot_armed_seconds=60)
    boot = arming.arm(store, arming.wanted(settings, DEVICE, TOLD, "Pxe", limits=own), run=None, now=1000.0).boot
    at, reached = boot.armed_at, dict(boot.reached)
    while (following := missing(replace(boot, reached=reached))) is not Milestone.PHONE_HOME:
        assert following is not None
        at += allowed(Progress(replace(boot, reached=reached), at, own, beats={"dhcp": at}))
        reached[following] = at
    assert boot.expires_at == at + arming.FETCH_SECONDS


def test_the_loader_is_the_one_of_the_nodes_own_processors(store: Store) -> None:
    def loader(name: str) -> str:
        settings = Settings(boot_url=URL)
        wanted = arming.wanted(settings, DEVICE, TOLD, arming.HTTP, loader=name)
        return arming.arm(store, wanted, run=None, now=time.time()).http_uri

    assert loader("snponly-arm64.efi") == f"{URL}/loader/snponly-arm64.efi"
    for wrong in ("../boot.key", "", "a/b"):
        with pytest.raises(FleetError, match=r"expected the name of a file such as snponly\.efi; correct"):
            loader(wrong)


def test_a_node_that_nothing_tells_from_others_is_not_to_be_armed() -> None:
    with pytest.raises(FleetError, match=r"gpu-01 is known by no MAC address, serial number or UUID.*record the MAC"):
        arming.wanted(Settings(boot_url=URL), {"name": NODE}, {}, arming.PXE)


def test_a_boot_that_is_up_or_on_its_way_is_found_again(store: Store) -> None:
    now = time.time()
    assert arming.made(store, NODE, now, None, LIMITS) is None
    boot = arm(store).boot
    assert arming.made(store, NODE, now, None, LIMITS) is None
    assert arming.made(store, NODE, now, 0.0, LIMITS) == boot
    store.tell([Reached(boot.id, Milestone.DHCP, time.time(), "10.0.0.9")])
    found = arming.made(store, NODE, now, None, LIMITS)
    assert found is not None
    assert found.id == boot.id
    assert arming.made(store, NODE, None, None, LIMITS) is None
    assert arming.made(store, NODE, boot.armed_at + 1, None, LIMITS) is None
    assert arming.made(store, NODE, now, None, {**LIMITS, Milestone.SCRIPT: 0.0}) is None
    store.tell([PhonedHome(boot.id, time.time(), "10.0.0.9")])
    store.close_boot(boot.id, "it answers ssh", time.time())
    assert arming.made(store, NODE, now, 1e9, LIMITS) is not None


def test_limits_that_a_role_gives_replace_those_of_their_milestones() -> None:
    assert arming.limits({"dhcp": "5"}) == {**LIMITS, Milestone.DHCP: 5.0}
    assert arming.limits({}) == LIMITS
    for wrong in ({"tftp": 5}, {"dhcp": "soon"}, {"dhcp": None}):
        with pytest.raises(FleetError, match="expected seconds for some of dhcp, script, kernel"):
            arming.limits(wrong)


def test_a_boot_from_a_medium_starts_from_a_file_beside_the_loaders(store: Store) -> None:
    settings = Settings(boot_url=f"{URL}/")
    wanted = arming.wanted(settings, DEVICE, TOLD, arming.PXE, medium="ipxe.iso")
    assert wanted.medium == f"{URL}/loader/ipxe.iso"
    assert wanted.source == ("Cd", "")
    armed = arming.arm(store, wanted, run=None, now=time.time())
    assert (armed.target, armed.http_uri, armed.nonce) == ("Cd", "", "")
    assert arming.wanted(settings, DEVICE, TOLD, arming.PXE).medium == ""


@pytest.mark.parametrize("name", ["ipxe.efi", "../ipxe.iso", "a b.iso", "http://10.0.0.9/x.iso"])
def test_a_medium_is_the_name_of_an_image(name: str) -> None:
    with pytest.raises(FleetError, match=r"found the boot_medium .* expected the name of a file such as ipxe\.iso"):
        arming.medium_address(Settings(boot_url=URL), name)


def test_a_medium_carries_no_proof() -> None:
    with pytest.raises(FleetError, match="carries no proof; set boot_proof none, or take boot_medium out"):
        arming.medium_address(Settings(boot_url=URL, boot_proof="bmc"), "ipxe.iso")
