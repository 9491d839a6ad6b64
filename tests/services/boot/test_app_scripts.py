"""Machines ask for their scripts: an armed node boots, and everything else waits and is written down."""

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.core.inventory.records import Interface
from tests.services.boot.desks import HOME, OTHER, URL, Hall, fleet_of, mac, node, play


def test_an_armed_node_gets_kernel_file_system_and_the_address_of_its_seed(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        script = await hall.script()
        assert f"kernel --name kernel {URL}/image/debian-12/vmlinuz?boot={key} console=ttyS0 " in script
        assert f" ds=nocloud-net;s={URL}/seed/{key}/ network-config=" in script
        assert f"initrd --name initrd.img {URL}/image/debian-12/initrd.zst?boot={key}" in script
        await hall.settled()
        (boot,) = hall.store.boots("gpu-01")
        assert (list(boot.reached), boot.sources[Milestone.SCRIPT]) == ([Milestone.SCRIPT], HOME)

    play(tmp_path, story)


def test_every_machine_gets_the_first_script(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        answer = await hall.ask("/boot.ipxe", source="192.0.2.1")
        assert answer.text.startswith("#!ipxe\n")
        assert f"{URL}/ipxe?mac=${{netX/mac}}" in answer.text

    play(tmp_path, story)


def test_a_node_that_is_not_armed_waits_and_its_history_says_so(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        script = await hall.script()
        assert "not armed" in script
        assert "sleep 20" in script
        assert "kernel" not in script
        await hall.settled()
        assert hall.refusals() == ["unarmed"]

    play(tmp_path, story)


def test_a_machine_that_nobody_knows_is_written_down_with_what_it_says_and_given_nothing(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        for _ in range(2):
            script = await hall.script(9, serial="X\x1b[31m9", manufacturer="Maker & Sons", product="P" * 500)
            assert "kernel" not in script
        await hall.settled()
        (found,) = hall.store.discovered()
        assert (found.mac, found.serial, found.source, found.times) == (mac(9), "X\ufffd[31m9", HOME, 2)
        assert (found.manufacturer, found.product) == ("Maker & Sons", "P" * 128)

    play(tmp_path, story)


def test_no_line_of_the_list_of_unknown_machines_can_be_forged(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        await hall.script(9, serial="a\nb", manufacturer=f"Maker\n{mac(8)}  Trusted\tCorp", product=" P\r\n")
        await hall.settled()
        (found,) = hall.store.discovered()
        assert (found.serial, found.manufacturer, found.product) == ("a b", f"Maker {mac(8)} Trusted Corp", "P\ufffd")

    play(tmp_path, story)


def test_a_machine_is_found_by_its_serial_number_or_by_the_uuid_that_its_bmc_said(tmp_path: Path) -> None:
    uuid = "00112233-4455-6677-8899-aabbccddeeff"

    async def story(hall: Hall) -> None:
        hall.arm(macs=frozenset(), uuid=uuid)
        await hall.settled()
        assert "kernel --name" in await hall.script(9, serial="S1")
        assert "kernel --name" in await hall.script(9, serial="", uuid=uuid)

    play(tmp_path, story, node(interfaces=()))


def test_a_mac_address_at_two_nodes_boots_neither_and_both_histories_say_why(tmp_path: Path) -> None:
    twin = replace(node(2), interfaces=node(1).interfaces)

    async def story(hall: Hall) -> None:
        hall.arm()
        await hall.settled()
        assert "more than once" in await hall.script()
        await hall.settled()
        assert hall.refusals("gpu-01") == hall.refusals("gpu-02") == ["duplicate"]

    play(tmp_path, story, node(1), twin)


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ({"serial": "S2"}, "mismatch"),
        ({"serial": "another"}, "mismatch"),
        ({"mac": mac(9)}, "mismatch"),
        ({"uuid": "00112233-4455-6677-8899-aabbccddee00"}, "mismatch"),
        ({"serial": ""}, "mismatch"),
    ],
)
def test_a_machine_that_contradicts_its_armed_boot_is_refused_and_not_told_what_is_expected(
    tmp_path: Path, says: dict[str, str], code: str
) -> None:
    async def story(hall: Hall) -> None:
        hall.arm(uuid="00112233-4455-6677-8899-aabbccddeeff")
        await hall.settled()
        script = await hall.script(1, **says)
        assert "kernel" not in script
        assert not re.search(r"S1|s1\b|02:00|gpu", script)
        await hall.settled()
        assert hall.refusals() == [code]

    play(tmp_path, story, node(1), node(2))


def test_a_node_boots_from_its_own_address_or_one_that_dhcp_gave_it(tmp_path: Path) -> None:
    token = tmp_path / "dhcp.token"
    token.write_text("secret\n", "utf-8")
    token.chmod(0o600)

    async def story(hall: Hall) -> None:
        hall.arm(addresses=frozenset({HOME}))
        await hall.settled()
        assert "kernel --name" not in await hall.script(source=OTHER)
        told = {"event": "lease", "mac": mac(1), "address": OTHER}
        answer = await hall.ask("/dhcp", "POST", json=told, headers={"authorization": "Bearer secret"})
        assert answer.status_code == 200
        assert "kernel --name" in await hall.script(source=OTHER)
        assert "kernel --name" in await hall.script(source=HOME)
        await hall.settled()
        (boot,) = hall.store.boots("gpu-01")
        assert list(boot.reached) == [Milestone.DHCP, Milestone.SCRIPT]
        assert "dhcp" in hall.store.beats()

    play(tmp_path, story, boot_dhcp_token=token)


def test_a_second_address_does_not_get_the_script_of_a_boot_that_began(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        await hall.booting()
        assert "another address" in await hall.script(source=OTHER)
        assert "kernel --name" in await hall.script(source=HOME)

    play(tmp_path, story)


def test_a_boot_that_expired_or_has_its_data_gets_no_kernel(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        assert (await hall.ask(f"/seed/{key}/user-data")).status_code == 200
        assert "has its data already" in await hall.script()
        hall.arm()
        await hall.settled()
        assert "kernel --name" in await hall.script()
        hall.now += 1800
        assert "too late" in await hall.script()

    play(tmp_path, story)


def test_a_nonce_that_only_the_bmc_was_given_proves_the_address_that_told_it(tmp_path: Path) -> None:
    (tmp_path / "snponly.efi").write_bytes(b"loader")
    nonce = "a1b2" * 16

    async def story(hall: Hall) -> None:
        hall.arm(nonce_hash=sha256(nonce.encode()).hexdigest())
        assert "proved" in await hall.script()
        assert (await hall.ask("/loader/snponly.efi")).status_code == 403
        assert (await hall.ask(f"/loader/{'0' * 64}/snponly.efi")).status_code == 403
        for _ in range(2):
            answer = await hall.ask(f"/loader/{nonce}/snponly.efi")
            assert (answer.status_code, answer.content) == (200, b"loader")
        assert (await hall.ask(f"/loader/{nonce}/snponly.efi", source=OTHER)).status_code == 403
        assert "another address" in await hall.script(source=OTHER)
        assert "kernel --name" in await hall.script()
        hall.now += 1800
        assert (await hall.ask(f"/loader/{nonce}/snponly.efi")).status_code == 410

    play(tmp_path, story, boot_loaders=tmp_path, boot_proof="bmc")


def test_a_fleet_that_wants_proof_gives_a_boot_without_a_nonce_nothing(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm()
        await hall.settled()
        assert "proved" in await hall.script()

    play(tmp_path, story, boot_proof="bmc")


def test_an_image_that_is_not_there_stops_its_node_alone(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm(1)
        hall.arm(2)
        await hall.settled()
        assert "image of this node" in await hall.script(1)
        assert "kernel --name" in await hall.script(2, source=OTHER)
        await hall.settled()
        assert hall.refusals("gpu-01") == ["image"]

    play(tmp_path, story, node(1, context={"boot_image": "nothing"}), node(2))


@pytest.mark.parametrize("arguments", ["${serial}", "quiet || reboot", "é"])
def test_kernel_arguments_that_ipxe_would_obey_stop_their_node_alone(tmp_path: Path, arguments: str) -> None:
    async def story(hall: Hall) -> None:
        hall.arm(1)
        hall.arm(2)
        await hall.settled()
        assert "cannot be made" in await hall.script(1)
        assert " nomodeset iommu=pt " in await hall.script(2, source=OTHER)
        await hall.settled()
        assert hall.refusals("gpu-01") == ["template"]

    devices = (
        node(1, context={"boot_arguments": arguments}),
        node(2, context={"boot_arguments": "nomodeset  iommu=pt"}),
    )
    play(tmp_path, story, *devices)


def test_a_machine_that_says_nothing_of_itself_is_asked_to(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        for query in (
            "",
            "mac=&uuid=&serial=",
            "mac=no&uuid=no&serial=To%20be%20filled%20by%20O.E.M.",
            "%ff=%ff&=&&",
        ):
            assert (await hall.ask(f"/ipxe?{query}")).status_code == 400

    play(tmp_path, story)


def test_a_node_that_is_registered_while_it_waits_is_known_when_it_asks_again(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        assert "Nobody knows" in await hall.script(2)
        hall.source[0] = fleet_of(node(1), node(2), revision="2")
        await hall.desk.known.refresh()
        assert "not armed" in await hall.script(2)

    play(tmp_path, story)


def test_a_device_without_a_lifecycle_is_booted_by_nobody(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        assert "no lifecycle" in await hall.script()

    switch = replace(node(), role="leaf", interfaces=(Interface("mgmt0", "1000base-t", mac=mac(1)),))
    play(tmp_path, story, switch)
