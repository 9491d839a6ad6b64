"""netbox init against a NetBox that has nothing, some, too little to give, or something of somebody else's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import tokens
from fleet_runner.adapters.netbox.changes import INSIDE, NAMED, OWN
from fleet_runner.adapters.netbox.client import Client, Timeouts
from fleet_runner.adapters.netbox.lists import LISTS
from fleet_runner.core.inventory.netbox.init.account import CABLES, JOURNAL, NODES, PARTS, READ
from tests.commands import Said, entered
from tests.netbox.site import put
from tests.netbox.standin import Standin
from tests.netbox.test_standin import FLEET
from tests.secret import private

KEPT = ("extras/custom-field-choice-sets", "extras/custom-fields", "extras/tags", "extras/custom-links",
        "extras/export-templates", "extras/webhooks", "extras/event-rules", "users/users", "users/permissions",
        "users/tokens")  # fmt: skip
"""The lists that something may be made in."""

MORE = {
    "web_url": "https://fleet.example",
    "netbox_webhook_url": "https://fleet.example:8490",
    "netbox_webhook_secret": "hook.secret",
    "netbox_write_nodes": "true",
    "netbox_write_cable_status": "true",
    "netbox_wishes": "true",
}
"""Settings that ask for everything."""


class Place(NamedTuple):
    """A stand-in, the folder of a person at it, and how that one types `netbox init`."""

    standin: Standin
    folder: Path
    init: Callable[..., Said]

    @property
    def own(self) -> str:
        """The token that was made."""
        return (self.folder / "own.token").read_text().strip()

    def had(self) -> dict[str, list[Any]]:
        """Return everything that a run might make or change."""
        return {path: self.standin.rows(path) for path in KEPT}


@pytest.fixture
def place(
    standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Place:
    """A NetBox that has nothing, and a settings file that names it and a file for the token."""
    standin.known.append("fields= names password, which is not shown")  # and would not be taken if it were not named
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FLEET_SOURCE", standin.url)
    monkeypatch.setenv("FLEET_NETBOX_TOKEN_FILE", str(tmp_path / "own.token"))

    def init(*words: str, token: str = "", **more: str) -> Said:
        file = tmp_path / "admin.token"
        private(file, token or standin.token)
        for name, value in more.items():
            monkeypatch.setenv(f"FLEET_{name.upper()}", value)
        return entered(monkeypatch, capsys, "netbox", "init", "--token-file", str(file), *words)

    return Place(standin, tmp_path, init)


def test_check_says_what_is_to_be_done_and_changes_nothing(place: Place) -> None:
    before = place.had()
    said = place.init("--check", **MORE)
    assert said.code == 1
    assert "make    custom fields fleet_management, fleet_state, fleet_since, fleet_wish," in said.out
    assert not said.err
    assert (place.had(), place.standin.changes) == (before, [])
    assert not list(place.folder.glob("*.secret"))
    assert max(map(len, said.out.splitlines()[2:])) <= 80 + len(str(place.folder))


def test_secrets_are_in_files_of_their_owner_and_nowhere_else(place: Place) -> None:
    said = place.init("--json", **MORE)
    hook = (place.folder / "hook.secret").read_text().strip()
    assert place.standin.row("extras/webhooks")["secret"] == hook
    for file in ("own.token", "hook.secret"):
        assert (place.folder / file).stat().st_mode & 0o777 == 0o600
        assert (place.folder / file).read_text().strip() not in said.out + said.err
    steps = json.loads(said.out)["steps"]
    assert {step["act"] for step in steps} == {"make"}
    assert len(steps) == 31


def test_a_webhook_that_is_there_keeps_its_secret(place: Place) -> None:
    """Another machine already checks signatures with it."""
    place.init(**MORE)
    file = place.folder / "hook.secret"
    there = file.read_text()
    file.unlink()
    place.init(**MORE)
    assert file.read_text() == there


def test_a_secret_of_a_file_is_the_webhooks_from_now_on(place: Place) -> None:
    place.init(**MORE)
    (place.folder / "hook.secret").write_text("a-new-one\n")
    said = place.init(**MORE)
    assert "secret: found another, expected this one's" in said.out
    assert place.standin.row("extras/webhooks")["secret"] == "a-new-one"


def test_a_webhook_needs_a_file_for_its_secret(place: Place) -> None:
    said = place.init(netbox_webhook_url="https://fleet.example:8490")
    assert said.code == 2
    assert "netbox_webhook_secret is not; name a file there" in said.err


def test_the_token_reads_all_that_the_product_reads(place: Place) -> None:
    """By export templates, and by NetBox's own serializers where those are not there."""
    place.init()
    put(place.standin, FLEET)
    assert netbox.load(place.standin.url, place.own).devices == FLEET.devices
    [right] = place.standin.rows("users/permissions", name="fleet-runner reads by templates")
    place.standin.edit("users/permissions", right["id"], enabled=False)
    assert netbox.load(place.standin.url, place.own).devices == FLEET.devices
    assert set(READ) >= {each.object_type for each in LISTS.values()} >= set(OWN)


def test_the_token_sees_the_changes_that_matter_and_no_ones_secrets(place: Place) -> None:
    """NetBox's change log holds the keys of VPNs, wireless networks and FHRP groups in plain text."""
    place.init()
    needed = {*OWN, *INSIDE, *NAMED, "ipam.ipaddress", "dcim.macaddress"}
    hidden = {"vpn.ikepolicy", "wireless.wirelesslan", "ipam.fhrpgroup", "extras.webhook", "extras.script"}
    for number, kind in enumerate(sorted(needed | hidden)):
        place.standin.database.write_change(kind, number, "", "update", ({}, {}), "")
    with Client(place.standin.url, place.own, Timeouts()) as client:
        seen = {row["changed_object_type"] for row in client.newest("core/object-changes", "changed_object_type", 90)}
    assert needed <= seen
    assert not hidden & seen


def test_the_token_writes_what_the_settings_ask_and_nothing_more(place: Place) -> None:
    place.init(netbox_write_cable_status="true")
    put(place.standin, FLEET)
    url = place.standin.url
    with Client(url, place.own, Timeouts()) as client:
        assert {kind for kind, actions in tokens.may(client).items() if actions} == {"dcim.cable"}
    assert netbox.connect_cables(url, place.own, [1]).done == 1
    assert place.standin.row("users/tokens", user=place.standin.user("fleet-runner"))["write_enabled"]


def test_a_token_that_writes_nothing_cannot(place: Place) -> None:
    place.init()
    put(place.standin, FLEET)
    assert not place.standin.row("users/tokens", user=place.standin.user("fleet-runner"))["write_enabled"]
    assert netbox.connect_cables(place.standin.url, place.own, [1]).done == 0
    writing = {right.name for right in (CABLES, JOURNAL, NODES, PARTS)}
    assert writing.isdisjoint(row["name"] for row in place.standin.rows("users/permissions"))


def test_what_the_settings_ask_for_no_more_is_switched_off(place: Place) -> None:
    place.init(netbox_write_nodes="true")
    said = place.init(netbox_write_nodes="false")
    assert "changed permission fleet-runner writes nodes" in said.out
    enabled = {row["name"]: row["enabled"] for row in place.standin.rows("users/permissions")}
    assert not enabled[NODES.name]
    assert enabled["fleet-runner reads"]
    assert place.init(netbox_write_nodes="false").out.splitlines()[1:] == ["26 there already"]


def test_a_token_that_does_not_fit_the_settings_is_said(place: Place) -> None:
    """The file is there, and no other token is made for it."""
    place.init()
    said = place.init(netbox_write_cable_status="true")
    assert "own.token may not change dcim.cable; tick that it may write in its page" in said.err
    assert len(place.standin.rows("users/tokens")) == 2


def test_without_a_file_for_it_no_token_is_made(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEET_NETBOX_TOKEN_FILE")
    assert "token" not in place.init().out
    assert len(place.standin.rows("users/tokens")) == 1
    out = place.folder / "new" / "out.token"
    assert place.init("--token-out", str(out)).code == 0
    put(place.standin, FLEET)
    assert netbox.load(place.standin.url, out.read_text().strip()).devices
