"""The real dnsmasq and Kea lease and boot as rendered, on a segment of their own, asked as firmware asks."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.boot.dhcp import servers
from tests.services.boot.dhcp.segment import SERVER, Segment, ipxe, machine, segment, why_not
from tests.waiting import until

FIRST, SECOND, STRANGER = "02:00:00:00:00:11", "02:00:00:00:00:12", "02:00:00:00:00:99"
FLEET = servers.fleet(
    servers.node("gpu-01", "198.18.0.11", FIRST), servers.node("gpu-02", "198.18.0.12", SECOND, "02:00:00:00:00:13")
)
FULL = ("dnsmasq", "kea")


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Segment]:
    """A segment of the test's own."""
    if why := why_not():
        pytest.skip(why)
    with segment(tmp_path) as made:
        yield made


@pytest.mark.parametrize("kind", FULL)
def test_each_firmware_gets_its_loader_and_ipxe_its_script(net: Segment, kind: str) -> None:
    with servers.serving(net, kind, servers.config(net, kind, FLEET)):
        kinds = (0, 7, 9, 11, 16, 19)
        *answers, script = net.ask(*(machine(FIRST, each) for each in kinds), ipxe(FIRST))
    files = {each: answer.file for each, answer in zip(kinds, answers, strict=True) if answer}
    assert files == {
        0: "undionly.kpxe",
        7: "snponly.efi",
        9: "snponly.efi",
        11: "snponly-arm64.efi",
        16: f"{servers.BOOT_URL}/loader/snponly.efi",
        19: f"{servers.BOOT_URL}/loader/snponly-arm64.efi",
    }
    assert script is not None
    assert script.file == f"{servers.BOOT_URL}/boot.ipxe"
    assert {answer.address for answer in answers if answer} == {"198.18.0.11"}
    assert [answer.text(60) for answer in answers[4:] if answer] == ["HTTPClient"] * 2
    assert {answer.server for answer in answers[:4] if answer} == {SERVER}


@pytest.mark.parametrize("kind", FULL)
def test_ipxe_need_not_wait_for_another_server(net: Segment, kind: str) -> None:
    """What it is told is its setting no-pxedhcp; firmware asked for nothing of the kind."""
    with servers.serving(net, kind, servers.config(net, kind, FLEET)):
        answers = net.ask(machine(FIRST), ipxe(FIRST))
    assert [answer.options.get("175") for answer in answers if answer] == [None, "b00101"]


@pytest.mark.parametrize("kind", FULL)
def test_a_node_gets_its_own_address_and_a_stranger_none(net: Segment, kind: str) -> None:
    with servers.serving(net, kind, servers.config(net, kind, FLEET)):
        (own,), (nothing,) = net.ask(machine(SECOND)), net.ask(machine(STRANGER), seconds=1.5)
    assert own is not None
    assert own.address == "198.18.0.12"
    assert (own.options["3"], own.options["6"], own.text(15)) == ("c61200fe", "c61200fd", "boot.example")
    assert nothing is None


@pytest.mark.parametrize("kind", FULL)
def test_a_stranger_gets_an_address_of_the_range_where_there_is_one(net: Segment, kind: str) -> None:
    text = servers.config(net, kind, FLEET, network={"range": ["198.18.0.200", "198.18.0.210"]})
    with servers.serving(net, kind, text):
        (answer,) = net.ask(ipxe(STRANGER))
    assert answer is not None
    assert answer.address.startswith("198.18.0.2")
    assert answer.file == f"{servers.BOOT_URL}/boot.ipxe"


@pytest.mark.parametrize("kind", FULL)
def test_the_boot_service_is_told_of_each_lease_and_of_its_renewal(net: Segment, kind: str) -> None:
    """A node that comes back within its lease is one more boot."""
    text = servers.config(net, kind, FLEET, lease_hook=str(servers.hook(net)))
    with servers.listening(net) as told, servers.serving(net, kind, text):
        net.ask(machine(FIRST))
        until(lambda: (FIRST, "198.18.0.11") in told.leases())
        before = len(told.leases())
        time.sleep(1.1)  # dnsmasq counts leases in seconds
        net.ask(ipxe(FIRST))
        until(lambda: len(told.leases()) > before)
    assert set(told.leases()) == {(FIRST, "198.18.0.11")}
    assert {each["authorization"] for each in told.requests()} == {"Bearer let-the-lease-be-told"}
    assert {each["path"] for each in told.requests()} == {"/dhcp"}


@pytest.mark.parametrize("kind", FULL)
def test_a_boot_service_that_hangs_holds_up_no_lease(net: Segment, kind: str) -> None:
    macs = [f"02:00:00:00:01:{at:02x}" for at in range(30)]
    found = servers.fleet(*(servers.node(f"gpu-{at}", f"198.18.0.{at + 20}", mac) for at, mac in enumerate(macs)))
    text = servers.config(net, kind, found, lease_hook=str(servers.hook(net)))
    with servers.listening(net, hangs=True) as told, servers.serving(net, kind, text):
        began = time.monotonic()
        answers = net.ask(*map(machine, macs))
        took = time.monotonic() - began
        until(lambda: bool(told.requests()))
    assert [answer.address for answer in answers if answer] == [f"198.18.0.{at + 20}" for at in range(30)]
    assert took < len(macs) * 5.0 / 2  # each is given up after five: one after the other would take twice as long


def test_a_proxy_adds_what_to_boot_and_leases_nothing(net: Segment) -> None:
    """BIOS chooses the one item of the menu that it is offered, UEFI asks on the PXE port; both do it at 4011."""
    asks = {"boot_server": SERVER, "address": "198.18.0.77"}
    chosen = machine(FIRST, 0, **asks)
    chosen["options"]["43"] = "470480000000ff"
    with servers.serving(net, "dnsmasq-proxy", servers.config(net, "dnsmasq-proxy", FLEET)):
        answers = net.ask(
            chosen,
            machine(FIRST, 7, **asks),
            machine(FIRST, 11, **asks),
            machine(FIRST, 16),
            ipxe(FIRST, 0),
            ipxe(FIRST),
        )
        offers = net.ask(machine(FIRST, 0), machine(FIRST))
    assert not any("175" in answer.options for answer in answers if answer)  # who leases has to be waited for
    script = f"{servers.BOOT_URL}/boot.ipxe"
    assert [answer.file for answer in answers if answer] == [
        "undionly.kpxe",
        "snponly.efi",
        "snponly-arm64.efi",
        f"{servers.BOOT_URL}/loader/snponly.efi",
        script,
        script,
    ]
    assert [(offer.address, offer.text(60)) for offer in offers if offer] == [("0.0.0.0", "PXEClient")] * 2


def test_old_leases_are_not_told_again_when_dnsmasq_starts(net: Segment) -> None:
    """Nobody has asked: an armed boot would seem to have come further than it has."""
    text = servers.config(net, "dnsmasq", FLEET, lease_hook=str(servers.hook(net)))
    with servers.listening(net) as told:
        for mac, expected in ((FIRST, {FIRST}), (SECOND, {FIRST, SECOND})):
            with servers.serving(net, "dnsmasq", text):
                net.ask(machine(mac))
                until(lambda wanted=expected: {each for each, _ in told.leases()} == wanted)
    assert [mac for mac, _ in told.leases()] == [FIRST, SECOND]


def test_two_cards_of_one_node_have_one_address(net: Segment) -> None:
    with servers.serving(net, "dnsmasq", servers.config(net, "dnsmasq", FLEET)):
        answers = net.ask(machine(SECOND), machine("02:00:00:00:00:13"))
    assert {answer.address for answer in answers if answer} == {"198.18.0.12"}
    assert None not in answers


def test_kea_gives_a_nodes_address_to_the_card_that_asks_first(net: Segment) -> None:
    """The other one gets none before that lease ends; docs/boot-servers.md says so."""
    with servers.serving(net, "kea", servers.config(net, "kea", FLEET)):
        (second,), (first,) = net.ask(machine("02:00:00:00:00:13")), net.ask(machine(SECOND), seconds=1.5)
    assert second is not None
    assert second.address == "198.18.0.12"
    assert first is None


def test_a_timer_says_that_there_is_a_dhcp_server(net: Segment) -> None:
    """No node need ask: the boot service tells a DHCP server that lives from one that does not."""
    hook = servers.hook(net)
    with servers.listening(net) as told:
        net.run(hook, "alive")
    (only,) = told.requests()
    assert json.loads(only["body"])["event"] == "alive"
    assert told.leases() == []


def test_a_timer_fails_and_says_why_where_no_boot_service_listens(net: Segment) -> None:
    """Its unit then is among those that failed, while the DHCP server goes on leasing."""
    with pytest.raises(AssertionError, match=r"curl: \(7\) .*127\.0\.0\.1"):
        net.run(servers.hook(net), "alive")


def test_what_a_machine_cannot_be_called_is_not_told(net: Segment) -> None:
    hook = servers.hook(net)
    with servers.listening(net) as told:
        net.run(hook, "add", '02:00:00:00:00:11", "x": "', "198.18.0.11")
        net.run(hook, "add", FIRST, "198.18.0.11")
        until(lambda: bool(told.requests()))
    assert told.leases() == [(FIRST, "198.18.0.11")]
