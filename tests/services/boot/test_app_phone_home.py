"""Nodes phone home: what they tell is durable before they are answered, counts once, and is checked."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fleet_runner.core.boot.boots import Milestone
from tests.services.boot.desks import HOME, OTHER, Hall, node, play

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIpreADa5qX5jvSSkHyAkAPGQmkUAyl8x0HIxkhbTx6h"


async def claimed(hall: Hall) -> str:
    """Bring a boot as far as its secrets, and return its key."""
    key = await hall.booting()
    assert (await hall.ask(f"/seed/{key}/user-data")).status_code == 200
    return key


def test_a_phone_home_is_in_the_store_before_it_is_answered_and_counts_once(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await claimed(hall)
        answer = await hall.phone(key, instance_id="gpu-01-1", pub_key_ed25519=f"{KEY} root@x", pub_key_rsa="N/A")
        assert answer.status_code == 200
        (boot,) = hall.store.boots("gpu-01")
        assert boot.host_keys == (KEY,)
        assert boot.sources[Milestone.PHONE_HOME] == HOME
        hall.now += 10
        assert (await hall.phone(key, instance_id="gpu-01-1")).status_code == 200
        assert hall.store.boots("gpu-01") == (boot,)

    play(tmp_path, story)


def test_a_phone_home_may_be_repeated_after_its_boot_is_closed_and_changes_nothing(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await claimed(hall)
        assert (await hall.phone(key, instance_id="gpu-01-1")).status_code == 200
        (boot,) = hall.store.boots("gpu-01")
        hall.store.close_boot(boot.id, "it is up", hall.now)
        await hall.settled()
        assert (await hall.phone(key, instance_id="gpu-01-1", pub_key_ed25519=KEY)).status_code == 200
        (closed,) = hall.store.boots("gpu-01")
        assert closed.host_keys == ()

    play(tmp_path, story)


def test_a_boot_that_was_closed_before_it_phoned_home_may_not_any_more(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await claimed(hall)
        hall.store.close_boot(hall.store.boots("gpu-01")[0].id, "it took too long", hall.now)
        await hall.settled()
        answer = await hall.phone(key, instance_id="gpu-01-1")
        assert (answer.status_code, answer.text) == (410, "closed\n")

    play(tmp_path, story)


def test_a_long_name_of_an_instance_is_not_kept(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await claimed(hall)
        assert (await hall.phone(key, instance_id="x" * 60_000)).status_code == 400
        await hall.settled()
        (event,) = [each for each in hall.store.boot_events("gpu-01") if each.kind == "refused"]
        assert event.sentence.endswith("xxx, expected 'gpu-01-1'")

    play(tmp_path, story)


@pytest.mark.parametrize("body", [b"\x00" * 100, b"\x7fELF" + bytes(range(256)), b"{}", b"", b"instance_id=%00"])
def test_a_body_that_is_no_form_is_refused_and_changes_nothing(tmp_path: Path, body: bytes) -> None:
    async def story(hall: Hall) -> None:
        key = await claimed(hall)
        assert (await hall.ask(f"/phone-home/{key}", "POST", content=body)).status_code == 400
        await hall.settled()
        assert Milestone.PHONE_HOME not in hall.store.boots("gpu-01")[0].reached
        assert hall.refusals() == ["body"]

    play(tmp_path, story)


@pytest.mark.parametrize("size", [64 * 1024 + 1, 10_000_000])
def test_a_body_that_is_too_large_is_refused(tmp_path: Path, size: int) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(size // 1000 + 1):
            yield b"a" * 1000

    async def story(hall: Hall) -> None:
        key = await claimed(hall)
        whole = await hall.ask(f"/phone-home/{key}", "POST", content=b"a" * size)
        assert (whole.status_code, whole.headers["connection"]) == (413, "close")
        assert (await hall.ask(f"/phone-home/{key}", "POST", content=pieces())).status_code == 413

    play(tmp_path, story)


def test_another_instance_another_address_and_a_boot_without_its_data_are_refused(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        early = await hall.booting(2, source=OTHER)
        assert (await hall.phone(early, source=OTHER, instance_id="gpu-02-1")).text == "unclaimed\n"
        key = await claimed(hall)
        assert (await hall.phone(key, instance_id="gpu-01-1")).status_code == 400
        assert (await hall.phone(key, source=OTHER, instance_id="gpu-01-2")).text == "address\n"
        assert (await hall.phone(key, instance_id="gpu-01-2")).status_code == 200
        assert (await hall.ask(f"/phone-home/{key}/more", "POST")).status_code == 404
        assert (await hall.phone("1-" + "0" * 32, instance_id="gpu-01-2")).text == "key\n"

    play(tmp_path, story, node(1), node(2))
