"""Boot services of one fleet share a store and a key: what one begins another ends, also after it was killed."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.core.boot.boots import Claim, Milestone, Reached, Told
from fleet_runner.services.boot.app import application
from fleet_runner.services.boot.serving import desk_of
from tests.services.boot.desks import HOME, OTHER, Hall, mac, node, play

BEARER = {"authorization": "Bearer secret"}


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """The token of DHCP servers."""
    path = tmp_path / "token"
    path.write_text("secret\n", "utf-8")
    path.chmod(0o600)
    return path


@asynccontextmanager
async def beside(hall: Hall) -> AsyncIterator[Hall]:
    """Run a second service of the same fleet."""
    async with desk_of(hall.desk.settings, hall.store, lambda: hall.source[0]) as desk:
        desk.clock = lambda: hall.now
        yield Hall(desk, hall.store, application(desk), hall.source, hall.now)


async def leased(hall: Hall, *addresses: str) -> None:
    """Tell of leases of the first node."""
    for address in addresses:
        told = {"event": "lease", "mac": mac(1), "address": address}
        assert (await hall.ask("/dhcp", "POST", json=told, headers=BEARER)).status_code == 200


def number(script: str) -> str:
    """Return the number of the boot that a script is of."""
    found = re.search(r"/seed/(\d+)-", script)
    assert found, script
    return found[1]


def test_what_one_service_begins_another_goes_on_with_at_once(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        async with beside(hall) as other:
            hall.arm()
            await hall.desk.ledger.look()
            await other.desk.ledger.look()
            key = await hall.booting()
            assert (await other.ask(f"/image/debian-12/vmlinuz?boot={key}")).status_code == 200
            for document in ("meta-data", "vendor-data", "user-data"):
                assert (await other.ask(f"/seed/{key}/{document}")).status_code == 200
            assert (await hall.phone(key, instance_id="gpu-01-2")).status_code == 200
            assert (await other.ask(f"/seed/{key}/meta-data", source=OTHER)).status_code == 403

    play(tmp_path, story)


def test_of_two_services_one_gives_the_script_to_one_address(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        async with beside(hall) as other:
            hall.arm()
            await hall.desk.ledger.look()
            await other.desk.ledger.look()
            assert "kernel --name" in await hall.script()
            assert "another address" in await other.script(source=OTHER)
            assert "kernel --name" in await other.script()

    play(tmp_path, story)


def test_every_lease_that_one_service_was_told_of_counts_at_the_other_and_after_both_have_ended(
    tmp_path: Path, token: Path
) -> None:
    second, third = "10.0.0.21", "10.0.0.22"

    async def story(hall: Hall) -> None:
        async with beside(hall) as other:
            hall.arm(addresses=frozenset({HOME}))
            await hall.desk.ledger.look()
            await leased(other, OTHER, second, third, second)
            await other.settled()
            hall.keys["key"] = key = number(await hall.script(source=second))
            assert key == "1"

    async def again(hall: Hall) -> None:
        (boot,) = hall.store.open_boots()
        assert boot.leased == {OTHER, second, third}
        assert boot.sources[Milestone.DHCP] == OTHER
        assert "kernel --name" in await hall.script(source=third)
        assert "another address" in await hall.script(source="10.0.0.23")

    play(tmp_path, story, boot_dhcp_token=token)
    play(tmp_path, again, boot_dhcp_token=token)


def test_nobody_is_leased_more_addresses_than_a_boot_can_need(tmp_path: Path, token: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm()
        await hall.desk.ledger.look()
        await leased(hall, *(f"10.0.1.{number}" for number in range(20)))
        await hall.settled()
        assert len(hall.store.open_boots()[0].leased) == 8

    play(tmp_path, story, boot_dhcp_token=token)


def test_a_service_that_is_killed_right_after_the_script_has_told_whom_it_gave_it(tmp_path: Path) -> None:
    keys: list[str] = []

    def lost(told: Told) -> None:
        del told

    async def killed(hall: Hall) -> None:
        hall.desk.ledger.note = lost  # type: ignore[method-assign]  # what nobody waits for is never written
        keys.append(await hall.booting())

    async def after(hall: Hall) -> None:
        for document in ("meta-data", "user-data"):
            assert (await hall.ask(f"/seed/{keys[0]}/{document}")).status_code == 200

    play(tmp_path, killed)
    play(tmp_path, after)


@pytest.mark.parametrize("before", ["armed", "leased", "scripted", "claimed", "expired", "closed"])
def test_a_node_that_was_armed_anew_a_moment_ago_gets_the_script_of_the_new_boot(
    tmp_path: Path, token: Path, before: str
) -> None:
    """Whatever memory has of the old one."""

    async def story(hall: Hall) -> None:
        old = hall.arm(seconds=10.0)
        await hall.desk.ledger.look()
        if before == "leased":
            await leased(hall, HOME)
        elif before == "scripted":
            assert number(await hall.script()) == str(old.id)
        elif before == "claimed":
            assert await hall.desk.ledger.tell(Claim(old.id, hall.now, HOME))
        elif before == "expired":
            hall.now += 10.0
        elif before == "closed":
            hall.store.close_boot(old.id, "it took too long", hall.now)
        await hall.settled()
        new = hall.arm()
        assert number(await hall.script()) == str(new.id)
        await hall.settled()
        assert hall.refusals() == []

    play(tmp_path, story, boot_dhcp_token=token)


def test_a_lease_counts_for_the_boot_that_was_armed_a_moment_ago(tmp_path: Path, token: Path) -> None:
    async def story(hall: Hall) -> None:
        await hall.booting()
        await hall.settled()
        new = hall.arm(addresses=frozenset({HOME}))
        await leased(hall, OTHER)
        assert number(await hall.script(source=OTHER)) == str(new.id)

    play(tmp_path, story, boot_dhcp_token=token)


def test_a_script_of_a_boot_that_is_closed_while_it_is_made_is_not_given(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm()
        await hall.desk.ledger.look()
        tell = hall.desk.ledger.tell

        async def late(told: Told) -> bool:
            if isinstance(told, Reached):
                hall.store.close_boot(told.boot, "it took too long", hall.now)
                hall.arm()
            return await tell(told)

        hall.desk.ledger.tell = late  # type: ignore[method-assign]  # every time it is told, the boot is over
        assert "not armed" in await hall.script()

    play(tmp_path, story)


def test_a_key_of_a_boot_that_a_restored_store_has_forgotten_opens_none_of_the_same_number(tmp_path: Path) -> None:
    async def before(hall: Hall) -> None:
        hall.keys["old"] = await hall.booting()
        keys.append(hall.keys["old"])

    async def restored(hall: Hall) -> None:
        hall.now += 60.0
        key = await hall.booting(2)
        assert key.partition("-")[0] == keys[0].partition("-")[0]
        for document in ("meta-data", "user-data"):
            answer = await hall.ask(f"/seed/{keys[0]}/{document}")
            assert (answer.status_code, answer.text) == (403, "key\n")
        assert (await hall.ask(f"/seed/{key}/user-data")).status_code == 200

    keys: list[str] = []
    both = (node(1), replace(node(2)))
    play(tmp_path, before, *both)
    for file in tmp_path.glob("fleet.db*"):
        file.unlink()
    play(tmp_path, restored, *both)
