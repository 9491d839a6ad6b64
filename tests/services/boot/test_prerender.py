"""What an armed node will ask for is there before it asks, and is never what has changed since."""

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from fleet_runner.core.inventory.records import Interface
from fleet_runner.services.boot import prerender, serving
from fleet_runner.services.boot.answers import BootContext
from fleet_runner.services.boot.documents import PLAIN
from fleet_runner.services.boot.prerender import prepare
from tests.services.boot import sites
from tests.services.boot.desks import NOW, Hall, fleet_of, images, mac, node, play
from tests.waiting import PATIENCE

ROUND = 1e-6
"""Seconds between two rounds: so many that nobody else sleeps for."""


@pytest.fixture(autouse=True)
def _rounds_are_the_tests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the service begin to prepare, and get no further: on a busy machine its round would be among a test's."""
    began: list[BootContext] = []

    async def begin(desk: BootContext) -> None:
        began.append(desk)
        await asyncio.Event().wait()

    monkeypatch.setattr(serving, "prepare", begin)
    yield
    assert began


async def prepared(hall: Hall) -> None:
    """Let it look at every open boot, or fail to, until it is about to look again."""
    await hall.desk.ledger.look()
    rounds, sleep, again = count(), asyncio.sleep, asyncio.Event()

    async def pause(seconds: float) -> None:
        if seconds == ROUND and next(rounds):
            again.set()
        await sleep(seconds)

    with patch.object(asyncio, "sleep", pause):
        work = asyncio.create_task(prepare(hall.desk, ROUND))
        async with asyncio.timeout(PATIENCE):
            await again.wait()
        work.cancel()


def made(hall: Hall, number: int = 1) -> Any:
    """Return what is made for a node."""
    return hall.desk.sessions.of(hall.desk.ledger.open[f"gpu-{number:02}"]).made


async def given(hall: Hall) -> tuple[str, str]:
    """Return script and vendor-data as a node is given them."""
    script = await hall.script()
    found = re.search(r"/seed/(\S+)/", script)
    assert found
    return script, (await hall.ask(f"/seed/{found[1]}/vendor-data")).text


def test_what_was_prepared_is_what_who_asks_at_once_is_given(tmp_path: Path) -> None:
    said: list[tuple[str, str]] = []

    async def story(hall: Hall) -> None:
        hall.arm()
        await prepared(hall)
        before = made(hall)[mac(1)]
        assert before.script
        assert set(before.documents) == set(PLAIN)
        said.append(await given(hall))
        assert made(hall)[mac(1)] is before
        assert before.script[1].decode() == said[0][0]
        hall.desk.sessions.forget(())
        said.append(await given(hall))

    play(tmp_path, story)
    assert said[0] == said[1]


def test_no_secret_is_prepared(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm()
        await prepared(hall)
        assert sites.MUNGE_KEY.hex() not in repr(made(hall))
        assert "user-data" not in made(hall)[mac(1)].documents

    (tmp_path / "join").mkdir()
    play(tmp_path, story, boot_join=sites.slurm(tmp_path / "join"))


def test_what_has_changed_since_is_made_anew(tmp_path: Path) -> None:
    templates = sites.templates(tmp_path / "templates", vendor_data="#cloud-config\na: {{ context.a | tojson }}\n")

    async def story(hall: Hall) -> None:
        hall.arm()
        await prepared(hall)
        hall.source[0] = fleet_of(node(context={"a": 2}), revision="2")
        await hall.desk.known.refresh()
        assert (await given(hall))[1] == "#cloud-config\na: 2\n"
        sites.templates(templates, vendor_data="#cloud-config\nb: {{ context.a | tojson }}\n")
        assert (await given(hall))[1] == "#cloud-config\nb: 2\n"
        images(tmp_path / "images", kernel=b"another" * 1000)
        hall.source[0] = fleet_of(node(context={"boot_arguments": "quiet"}), revision="3")
        await hall.desk.known.refresh()
        assert " quiet " in await hall.script()

    play(tmp_path, story, node(context={"a": 1}), boot_templates=templates)


def test_a_change_is_prepared_for_before_anybody_asks(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm()
        await prepared(hall)
        hall.source[0] = fleet_of(node(serial="S1", tenant="new"), revision="2")
        await hall.desk.known.refresh()
        await prepared(hall)
        assert made(hall)[mac(1)].facts.node["tenant"] == "new"

    play(tmp_path, story)


def test_a_node_is_prepared_for_each_mac_address_that_it_may_ask_with_unless_there_are_many(tmp_path: Path) -> None:
    many = frozenset(map(mac, range(10, 10 + prerender.MOST_MACS + 1)))

    async def story(hall: Hall) -> None:
        hall.arm(1, macs=frozenset({mac(1), mac(3)}))
        hall.arm(2, macs=many)
        await prepared(hall)
        networks = {by: each.documents["network-config"] for by, each in made(hall).items()}
        assert {by: f"boot-{by.replace(':', '')}".encode() in text for by, text in networks.items()} == {
            mac(1): True,
            mac(3): True,
        }
        assert made(hall, 2) == {}

    two = replace(node(), interfaces=(*node().interfaces, Interface("eth1", "1000base-t", mac=mac(3))))
    play(tmp_path, story, two, node(2))


def test_what_cannot_be_made_stops_nothing_is_tried_once_and_is_told_to_who_asks(tmp_path: Path) -> None:
    wrong = "{% if node.name == 'gpu-01' %}{{ nobody | tojson }}{% endif %}\na: 1\n"
    templates = sites.templates(tmp_path / "templates", network_config=wrong)
    for each in (templates / "network-config.yaml.j2", templates):
        os.utime(each, (NOW, NOW))  # what has just changed is looked at again and again

    async def story(hall: Hall) -> None:
        hall.arm(1)
        hall.arm(2)
        hall.arm(3)
        await prepared(hall)
        tried = made(hall)[mac(1)]
        assert tried.script is None
        assert made(hall, 2)[mac(2)].script
        assert made(hall, 3) == {}  # it has left the source of truth
        await prepared(hall)
        assert made(hall)[mac(1)] is tried
        assert "cannot be made now" in await hall.script()
        (templates / "network-config.yaml.j2").unlink()
        templates.rmdir()
        await prepared(hall)
        assert "cannot be made now" in await hall.script()
        await hall.settled()
        assert set(hall.refusals()) == {"template"}

    hall_nodes = (node(1), node(2), node(3))

    async def without_the_third(hall: Hall) -> None:
        hall.source[0] = fleet_of(*hall_nodes[:2], revision="2")
        await hall.desk.known.refresh()
        await story(hall)

    play(tmp_path, without_the_third, *hall_nodes, boot_templates=templates)


def test_requests_have_their_turn_while_many_boots_are_prepared(tmp_path: Path) -> None:
    nodes = [node(number) for number in range(1, 100)]

    async def story(hall: Hall) -> None:
        for number in range(1, 100):
            hall.arm(number)
        await hall.desk.ledger.look()
        work = asyncio.create_task(prepare(hall.desk, 0.0))
        turns = 0
        async with asyncio.timeout(PATIENCE):
            while not all(hall.desk.sessions.of(boot).made for boot in hall.desk.ledger.open.values()):
                await asyncio.sleep(0)
                turns += 1
        work.cancel()
        assert turns > 10

    play(tmp_path, story, *nodes)
