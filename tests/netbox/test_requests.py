"""Requests in a NetBox's pages, taken from a stand-in: once, with who and when, and answered."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fleet_runner.adapters.netbox import page_intents
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.netbox.page_intents import Seen
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from fleet_runner.reconcile.inventory.page_intents import NAME, ROUNDS, STUCK
from tests.netbox.asking import MAY, NAMES, Desk


def test_a_request_is_taken_with_who_asked_and_when_and_its_field_is_emptied(desk: Desk) -> None:
    """A look that finds nothing new changes nothing, here or there."""
    desk.ask("gpu-1", "hold", "the fan is loud")
    runner = desk.runner()
    assert runner.visit() == 1
    assert desk.asked() == [("alice in NetBox", "hold", "the fan is loud")]
    assert desk.store.intents("gpu-1")[0].at < 2e9  # NetBox's clock
    assert desk.stands("gpu-1") == ("", "")
    assert desk.woken == 1
    changes = len(desk.netbox.changes)
    assert runner.visit() == 0
    assert len(desk.netbox.changes) == changes
    assert desk.netbox.rows("core/object-changes")[-1]["message"] == "fleet-runner took the request."


def test_a_look_at_pages_without_requests_is_one_request(desk: Desk) -> None:
    desk.netbox.requests.clear()
    assert desk.runner().visit() == 0
    assert len(desk.netbox.requests) == 1


def test_requests_of_many_nodes_are_taken_at_once(desk: Desk) -> None:
    for name, intent in zip(NAMES, ("hold", "release", "certify"), strict=True):
        desk.ask(name, intent, by=f"tech-{name}")
    assert desk.runner().visit() == 3
    assert [desk.asked(name)[0][:2] for name in NAMES] == [
        ("tech-gpu-1 in NetBox", "hold"), ("tech-gpu-2 in NetBox", "release"), ("tech-gpu-3 in NetBox", "certify"),
    ]  # fmt: skip


def test_two_runners_take_a_request_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second looks, takes and empties between the first one's taking and emptying."""
    desk.ask("gpu-1", "hold")
    one, other = desk.runner(), desk.runner()
    real = page_intents.empty

    def empty(client: Client, seen: Seen) -> bool:
        monkeypatch.setattr(page_intents, "empty", real)
        other.visit(rung=True)
        return real(client, seen)

    monkeypatch.setattr(page_intents, "empty", empty)
    one.visit()
    assert desk.asked() == [("alice in NetBox", "hold", "")]
    assert desk.stands("gpu-1") == ("", "")


def test_runners_at_which_it_rings_at_once_take_each_request_once(desk: Desk) -> None:
    for name in NAMES:
        desk.ask(name, "hold")
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda runner: runner.visit(rung=True), [desk.runner() for _ in range(4)]))
    assert sum(taken) == len(NAMES)
    assert [len(desk.asked(name)) for name in NAMES] == [1, 1, 1]
    assert [desk.stands(name)[0] for name in NAMES] == ["", "", ""]


def test_only_one_runner_looks_every_so_often_and_any_looks_when_it_rings(desk: Desk) -> None:
    one, other = desk.runner(), desk.runner()
    one.visit()
    desk.ask("gpu-1", "hold")
    assert other.visit() == 0
    assert other.visit(rung=True) == 1
    desk.ask("gpu-1", "release")
    desk.now += 1000.0  # the first one is gone
    assert other.visit() == 1


def test_a_request_that_could_not_be_emptied_is_not_taken_again(desk: Desk) -> None:
    """NetBox goes down between the two, or its answer is lost."""
    desk.ask("gpu-1", "hold")
    desk.netbox.fail("^PATCH", times=ROUNDS, status=500)
    desk.runner().visit()
    assert (desk.stands("gpu-1")[0], len(desk.asked())) == ("hold", 1)
    desk.netbox.fail("^PATCH", lost=True)
    desk.runner().visit(rung=True)
    assert (desk.stands("gpu-1")[0], len(desk.asked())) == ("", 1)
    desk.ask("gpu-1", "hold")
    desk.runner().visit(rung=True)
    assert len(desk.asked()) == 2


def test_a_request_that_is_changed_while_it_is_taken_is_taken_too(desk: Desk) -> None:
    """The newer one is never emptied away unseen."""
    desk.ask("gpu-1", "hold")
    desk.meanwhile(lambda: desk.ask("gpu-1", "release", "it is quiet", by="bob"))
    desk.runner().visit()
    assert desk.asked() == [("alice in NetBox", "hold", ""), ("bob in NetBox", "release", "it is quiet")]
    assert desk.stands("gpu-1") == ("", "")


def test_a_request_that_an_older_netbox_lets_be_overwritten_is_found_in_its_change_log(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before 4.6 no entity tag is looked at."""
    monkeypatch.setattr(desk.netbox.api, "_matching", lambda *_: None)
    desk.ask("gpu-1", "hold")
    desk.meanwhile(lambda: desk.ask("gpu-1", "release", "it is quiet", by="bob"))
    assert desk.runner().visit() == 2
    assert desk.asked() == [("alice in NetBox", "hold", ""), ("bob in NetBox", "release", "it is quiet")]
    assert desk.runner().visit(rung=True) == 0


def test_who_asked_belongs_to_what_stands_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody asks for something else between the page and its change log."""
    desk.ask("gpu-1", "hold")
    read = Client.newest

    def newest(self: Client, path: str, fields: str, most: int, **filters: str) -> list[dict[str, object]]:
        monkeypatch.setattr(Client, "newest", read)
        desk.ask("gpu-1", "reboot", by="bob")
        return self.newest(path, fields, most, **filters)

    monkeypatch.setattr(Client, "newest", newest)
    assert desk.runner().visit() == 1
    assert desk.asked() == [("bob in NetBox", "reboot", "")]


def test_a_token_that_may_not_read_the_change_log_takes_requests_of_someone(desk: Desk) -> None:
    """What stands there is one request, however often the page changes otherwise, until it was gone."""
    desk.token = desk.netbox.token_of("blind", {key: MAY[key] for key in MAY if key != "core.objectchange"})
    desk.ask("gpu-1", "hold")
    desk.netbox.fail("^PATCH", times=ROUNDS, status=500)
    desk.runner().visit()
    desk.netbox.edit("dcim/devices", desk.device("gpu-1"), serial="S9")
    desk.runner().visit(rung=True)
    assert desk.asked() == [("someone in NetBox", "hold", "")]
    desk.ask("gpu-1", "hold")
    desk.runner().visit(rung=True)
    assert len(desk.asked()) == 2


def test_what_is_no_node_is_answered_once_in_its_journal(desk: Desk) -> None:
    """Also where the answer to that was lost."""
    desk.ask("leaf-1", "hold", "please")
    desk.netbox.fail("^POST", lost=True)
    desk.runner().visit()
    desk.now += 100.0
    desk.runner().visit(rung=True)
    [said] = desk.journal("leaf-1")
    assert "alice in NetBox asks: hold (please). This device is no node: nodes have the role gpu-server" in said
    assert desk.stands("leaf-1") == ("", "")
    assert desk.store.refused_page_intents(desk.netbox.url) == ()


def test_what_was_deleted_before_it_could_be_answered_is_done_with(desk: Desk) -> None:
    """Nobody hears of it again and again, and the answers to others go on."""
    desk.ask("leaf-1", "hold")
    desk.netbox.fail("^POST", status=503)
    runner = desk.runner()
    runner.visit()
    desk.netbox.remove("dcim/devices", desk.device("leaf-1"))
    desk.now += 100.0
    runner.visit(rung=True)
    assert (desk.store.tracker(NAME).detail, runner.trouble) == ("", "")
    assert desk.store.refused_page_intents(desk.netbox.url) == ()


def test_a_request_in_one_of_two_pages_of_a_name_waits(desk: Desk) -> None:
    """Who may make a device at one site need not have a say in the node of that name at another."""
    row = desk.netbox.row("dcim/devices", name="gpu-1")
    same = {key: row[key]["id"] for key in ("device_type", "role")}
    other = desk.netbox.add("dcim/sites", name="other", slug="other")
    twin = desk.netbox.add("dcim/devices", name="gpu-1", site=other, **same)
    desk.netbox.edit("dcim/devices", twin, by="mallory", custom_fields={"fleet_wish": "hold"})
    runner = desk.runner()
    assert runner.visit() == 0
    assert runner.trouble == "NetBox has 2 devices gpu-1; give each a name of its own; the request waits"
    assert desk.asked() == []
    desk.netbox.edit("dcim/devices", twin, name="gpu-2b", custom_fields={"fleet_wish": None})
    desk.ask("gpu-1", "release")
    assert runner.visit() == 1
    assert desk.asked() == [("alice in NetBox", "release", "")]


def test_a_field_that_netbox_does_not_empty_keeps_no_other_request_back(desk: Desk) -> None:
    desk.ask("gpu-1", "hold")
    desk.ask("gpu-2", "hold")
    desk.netbox.change = lambda answer: (
        [
            row | {"custom_fields": {"fleet_wish": "hold"}} if row["id"] == desk.device("gpu-1") else row
            for row in answer
        ]
        if isinstance(answer, list)
        else answer
    )
    runner = desk.runner()
    assert runner.visit() == 2
    assert "gpu-1: the request is accepted, but still in its page" in runner.trouble
    assert "not empty although NetBox accepted the change" in runner.trouble
    assert desk.asked("gpu-2") == [("alice in NetBox", "hold", "")]


def test_what_is_no_node_need_not_be_ours_to_change(desk: Desk) -> None:
    """Its field stays full: that is asked of whoever asked, and is no trouble."""
    desk.token = desk.netbox.token_of("narrow", MAY | {"dcim.device": ("view",)})
    desk.netbox.token_of("narrow", {"dcim.device": (("change",), {"role__slug": "gpu-server"})})
    desk.ask("leaf-1", "hold")
    runner = desk.runner()
    assert (runner.visit(), runner.visit(), runner.trouble) == (1, 0, "")
    [said] = desk.journal("leaf-1")
    assert "Empty its field if the request is still there." in said
    desk.ask("leaf-1", "")
    desk.ask("leaf-1", "hold")
    assert runner.visit() == 1


def test_what_cannot_be_asked_for_is_answered_in_the_history_of_the_node(desk: Desk) -> None:
    """A site may have added to the choices; a retired node decides nothing any more."""
    choices = desk.netbox.row("extras/custom-field-choice-sets", name="fleet_wish")
    listed = [*choices["extra_choices"], ["wipe", "wipe"]]
    desk.netbox.edit("extras/custom-field-choice-sets", choices["id"], extra_choices=listed)
    node = desk.store.node("gpu-2")
    assert node is not None
    desk.store.apply(node, Decision((Move(TRANSITIONS[State.REGISTERED, Event.RETIRE], "ada"),), "", 0.0), 2.0)
    desk.ask("gpu-1", "wipe")
    desk.ask("gpu-2", "hold")
    assert desk.runner().visit() == 2
    said = {name: desk.store.history(name)[-1].sentence for name in ("gpu-1", "gpu-2")}
    assert said["gpu-1"].startswith("'wipe' cannot be requested in NetBox; expected cancel, certify")
    assert said["gpu-2"] == "The node is retired and takes no requests; its history stays readable."
    assert desk.asked() == desk.asked("gpu-2") == []
    assert (desk.stands("gpu-1"), desk.stands("gpu-2")) == (("", ""), ("", ""))


def test_a_request_for_a_node_that_the_store_does_not_know_yet_waits_in_its_page(desk: Desk) -> None:
    with desk.netbox.lock:
        row = desk.netbox.row("dcim/devices", name="gpu-1")
    same = {key: row[key]["id"] for key in ("device_type", "role", "site")}
    desk.netbox.add("dcim/devices", name="gpu-9", **same)
    desk.ask("gpu-9", "certify")
    runner = desk.runner()
    assert runner.visit() == 0
    assert runner.trouble == "gpu-9: the source of truth was not read with this node yet"
    assert desk.store.tracker(NAME).detail == runner.trouble
    assert desk.stands("gpu-9")[0] == "certify"
    desk.store.register([Device("gpu-9", "hgx", "gpu-server", "hall")], 3.0)
    assert runner.visit() == 1
    assert desk.asked("gpu-9") == [("alice in NetBox", "certify", "")]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"status": 503}, "gave HTTP 503"),
        ({"status": 403}, "give the token's user the permission"),
        ({"dropped": True}, "cannot be reached"),
        ({"body": b"<html>", "status": 200, "kind": "text/html"}, "expected JSON"),
        ({"body": b'{"count": 1, "next": null, "results": [{"custom_fields": 5}]}', "status": 200}, "of NetBox 4"),
    ],
)
def test_a_netbox_in_trouble_is_left_alone_for_a_while_unless_it_rings(
    desk: Desk, how: dict[str, Any], said: str
) -> None:
    desk.ask("gpu-1", "hold")
    desk.netbox.fail("^GET", **how)
    runner = desk.runner()
    assert runner.visit() == 0
    assert said in desk.store.tracker(NAME).detail
    assert runner.visit() == 0
    assert runner.visit(rung=True) == 1
    assert (desk.store.tracker(NAME).detail, runner.trouble) == ("", "")


def test_a_netbox_without_the_field_says_what_makes_it(desk: Desk) -> None:
    """NetBox ignores a filter that it does not know, and shows every device."""
    body = b'{"count": 1, "next": null, "results": [{"id": 1, "name": "gpu-1", "custom_fields": {}}]}'
    desk.netbox.fail("^GET", status=200, body=body)
    runner = desk.runner()
    runner.visit()
    assert "no custom field fleet_wish; `fleet-runner netbox init` makes it" in runner.trouble


def test_a_page_that_the_token_may_not_change_keeps_no_other_one_back(desk: Desk) -> None:
    """Its request is taken once, and said to stand there still."""
    desk.token = desk.netbox.token_of("narrow", MAY | {"dcim.device": ("view",)})
    desk.netbox.token_of("narrow", {"dcim.device": (("change",), {"name": "gpu-2"})})
    desk.ask("gpu-1", "hold")
    desk.ask("gpu-2", "hold")
    runner = desk.runner()
    assert runner.visit() == 2
    assert "gpu-1: the request is accepted, but still in its page" in runner.trouble
    assert (desk.stands("gpu-1")[0], desk.stands("gpu-2")[0]) == ("hold", "")
    said = runner.trouble
    desk.netbox.requests.clear()
    assert runner.visit() == 0
    assert (len(desk.netbox.requests), runner.trouble) == (1, said)
    desk.now += STUCK
    desk.netbox.token_of("narrow", {"dcim.device": (("change",), {"name": "gpu-1"})})
    assert runner.visit() == 0
    assert (desk.stands("gpu-1")[0], runner.trouble) == ("", "")
