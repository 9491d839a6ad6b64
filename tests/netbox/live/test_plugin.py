"""The plugin in a real NetBox, with a real fleet-runner: what pages show, to whom, and what they ask of whom."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.netbox.mirror.lines import comments
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.lab.netbox.configuration import Options
from fleet_runner.lab.netbox.installation import VERSION, environment
from fleet_runner.lab.netbox.serving import why_not
from fleet_runner.lab.netbox.starting import running
from tests.netbox.live.conftest import started
from tests.netbox.live.place import Place
from tests.netbox.live.plugged import RELEASE, Front, Plugged, fill, tables
from tests.netbox_plugin.wheel import built
from tests.secret import private
from tests.web.conftest import browser  # noqa: F401  a fixture
from tests.web.hall import NOW, made
from tests.web.looking import DESKTOP, SHOTS, shot
from tests.web.served import served

BROKEN, HELD, OTHER, SWAPPED = "gpu-00003", "gpu-00001", "gpu-00004", "gpu-00005"
ASKER, EDITOR, VIEWER, STRANGER = "asker", "editor", "viewer", "stranger"
PATIENCE = 60_000.0
INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"
FOUND, PINS = {"BMC": "1.02", "BIOS": "2.1", "HGX": "9"}, {"BMC": "1.05", "BIOS": "2.1"}


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugged]:
    """A NetBox with the plugin from its wheel, as `netbox init` prepares it, and users with different rights."""
    if why := why_not():
        pytest.skip(f"no NetBox can be run here: {why}")
    folder = tmp_path_factory.mktemp("plugged")
    with Store.create(f"sqlite:///{folder / 'fleet.db'}") as store, Front().open() as front:
        hall = made(store)
        for name in (BROKEN, SWAPPED):
            compared(store, name)
        with served(store, hall.fleet, folder / "state", inventory=pinned(folder / "inventory")) as site:
            front.to = site.url
            token = private(folder / "viewer-token", site.token(Role.VIEWER))
            settings = {
                "url": front.url,
                "token_file": str(token),
                "web_url": "https://fleet.example:8492",
                "timeout_seconds": 10,  # on a computer that tests keep busy
            }
            lines = ('PLUGINS = ["netbox_fleet_runner"]', f"PLUGINS_CONFIG = {{'netbox_fleet_runner': {settings!r}}}")
            styled(folder / "netbox")
            options = Options(release(), (str(built(folder / "wheel")),), lines)
            with running(folder / "netbox", print, options) as netbox:
                found = Plugged(netbox, Place(netbox.url, netbox.token), front, hall)
                before = tables(folder / "netbox")
                prepare(found, folder)
                yield found
                assert tables(folder / "netbox") == before


def release() -> str:
    """Return which NetBox it is."""
    return os.environ.get(RELEASE, VERSION)


def compared(store: Store, name: str) -> None:
    """Have a node's firmware and links checked: one component drifts, one link goes elsewhere."""
    port = int(name.removeprefix("gpu-"))
    drift = Finding("firmware.drift", "BMC", "BMC has version 1.02, expected 1.05", Remedy.REFLASH, "fw", (name,))
    moved = Finding(
        "cabling.swap", f"{name} ib0, leaf-0 p{port}", f"ib0 goes to leaf-0 p{port + 1}, expected leaf-0 p{port}",
        Remedy.RECABLE, "c", (name,), devices=(name, "leaf-0"),
    )  # fmt: skip
    bodies = {f"{INVENTORY}/{part}": {"Id": part, "Version": version} for part, version in FOUND.items()}
    text = json.dumps(bodies)
    read = Evidence(name, NOW - 200, "redfish_firmware", Reading("redfish_firmware", ReadEnd.OK, text).hash, text)
    results = (
        Result("firmware_pins", Verdict.FAIL, "1 drifts", (drift,), {"versions": FOUND}, (read.hash,)),
        Result("cabling_infiniband", Verdict.FAIL, "1 link differs", (moved,), {"designed": 8}),
    )
    lines = (read, *(Judged(name, NOW - 200, each) for each in results))
    store.record_by_hand(Stage.VERIFY, "runner", lines, NOW - 200)


def pinned(folder: Path) -> Path:
    """Write the versions that the device type's catalogue accepts; return the inventory beside it."""
    rows = [
        {"component": part, "inventory_id": part, "target": target, "order": 10, "activate": {"how": "bmc_reset"}}
        for part, target in PINS.items()
    ]
    variables = folder / "group_vars"
    variables.mkdir(parents=True)
    for kind in ("hgx_h100", "hgx_b200"):
        profile = {"fleet_profile": {"firmware": {"components": rows}}}
        (variables / f"device_type_{kind}.yml").write_text(yaml.safe_dump(profile))
    return folder / "fleet.yml"


def styled(folder: Path) -> None:
    """Collect the one static file that NetBox itself draws racks with."""
    (style,) = environment(release()).parent.glob("lib/python3*/site-packages/netbox/_data/**/rack_elevation.css")
    (folder / "static").mkdir(parents=True)
    (folder / "static" / style.name).write_bytes(style.read_bytes())


def prepare(found: Plugged, folder: Path) -> None:
    """Make what a site has: fields by `netbox init`, devices with states, users."""
    admin = private(folder / "admin-token", found.netbox.token)
    words = (
        "netbox",
        "init",
        "--url",
        found.netbox.url,
        "--token-file",
        str(admin),
        "--token-out",
        str(folder / "own"),
    )
    said = started(words, folder, netbox_write_nodes="true", netbox_wishes="true")
    assert said.code == 0, said.words
    fill(found)
    mine = {"name__in": [HELD, BROKEN, SWAPPED]}
    found.user(ASKER, see=(["view"], None), ask=(["wish"], mine))
    found.user(EDITOR, see=(["view"], None), edit=(["change"], mine))
    found.user(VIEWER, see=(["view"], None))
    found.user(STRANGER, see=(["view"], {"name": OTHER}))


@pytest.fixture
def page(plugged: Plugged, browser: Browser) -> Iterator[Page]:  # noqa: F811  a fixture
    """A browser's page of somebody who may ask; at its end no script of anybody else has run."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    with plugged.client(ASKER) as client:
        cookies = [
            {"name": name, "value": value, "url": plugged.netbox.url} for name, value in client.cookies.items()
        ]
    context.add_cookies(cookies)  # type: ignore[arg-type]  Playwright's own type of a cookie
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    said: list[str] = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert not said


def asked(client: httpx.Client, plugged: Plugged, name: str, **said: str) -> httpx.Response:
    """Send a request for a device as its form does."""
    token = client.cookies["csrftoken"]
    headers = {"referer": plugged.netbox.url}
    return client.post(plugged.page(name, "wish"), data={"csrfmiddlewaretoken": token, **said}, headers=headers)


def test_a_nodes_page_shows_state_why_tickets_firmware_and_links(plugged: Plugged, page: Page) -> None:
    """What a BMC says stands there as text."""
    page.goto(f"{plugged.netbox.url}{plugged.page(BROKEN)}")
    panel = page.locator("#fleet-runner")
    expect(panel.locator("[data-fleet=brief]")).to_be_visible(timeout=PATIENCE)
    for words in (
        "production",
        'GPU 3 fell off the bus <script>alert("x")</script>',
        "drift",
        "1.02",
        "1.05",
        "as pinned",
        "ib0 goes to leaf-0 p4, expected leaf-0 p3",
        "as designed",
    ):
        expect(panel).to_contain_text(words)
    assert "\u202e" not in panel.inner_text()
    link = panel.get_by_text("Open in fleet-runner")
    assert link.get_attribute("href") == f"https://fleet.example:8492/nodes/{BROKEN}"
    expect(page.locator('a[href="#fleet-runner"]')).to_have_text("production")
    shot(page, "netbox-device")


def test_a_ticket_leads_to_its_page(plugged: Plugged, page: Page) -> None:
    """Where FLEET_SHOTS names a folder, docs/netbox-plugin.png is drawn there."""
    page.set_viewport_size({"width": DESKTOP[0], "height": 2_400})
    page.goto(f"{plugged.netbox.url}{plugged.page(SWAPPED)}")
    panel = page.locator("#fleet-runner")
    expect(panel.locator("[data-fleet=wishes]")).to_be_visible(timeout=PATIENCE)
    (ticket,) = plugged.hall.store.tickets(node=SWAPPED)
    link = panel.get_by_role("link", name=f"#{ticket.id}")
    assert link.get_attribute("href") == f"https://fleet.example:8492/tickets/{ticket.id}"
    expect(panel).to_contain_text(ticket.title)
    if folder := os.environ.get(SHOTS):
        panel.screenshot(path=f"{folder}/netbox-plugin.png")
    row = panel.locator("[data-fleet=brief] li").first
    assert row.evaluate("row => { row.append('x'.repeat(400)); return row.scrollWidth <= row.clientWidth }")


def test_a_long_sentence_of_the_journal_is_seen_whole(plugged: Plugged, page: Page) -> None:
    """NetBox shows an entry's block as it is, and what is longer than a line only to who scrolls."""
    place, number = plugged.place, plugged.devices[OTHER]
    (asker,) = [row["id"] for row in place.rows("users/users") if row["username"] == ASKER]
    may = {"name": "reads journals", "actions": ["view"], "users": [asker], "object_types": ["extras.journalentry"]}
    place.ask("POST", "users/permissions", json=may)
    sentence = f"Burn-in found a fault; it is not retried, a person decides. {'GPU 0000:d1:00.0 reached 78%. ' * 20}"
    said = comments(Entry(1, OTHER, NOW, "condition", sentence, "runner"))
    about = {"assigned_object_type": "dcim.device", "assigned_object_id": number}
    place.ask("POST", "extras/journal-entries", json={**about, "kind": "warning", "comments": said})
    page.goto(f"{plugged.netbox.url}{plugged.page(OTHER)}journal/")
    block = page.locator(".rendered-markdown pre")
    expect(block).to_contain_text("a person decides.")
    shot(page, "netbox-journal")
    assert block.evaluate("block => block.scrollWidth <= block.clientWidth")


def test_no_other_device_has_a_panel(plugged: Plugged, page: Page) -> None:
    page.goto(f"{plugged.netbox.url}{plugged.page('leaf-1')}")
    expect(page.locator("h1, h2").first).to_be_visible()
    assert page.locator("#fleet-runner").count() == 0


def test_the_list_shows_states_by_itself_and_is_narrowed_by_them(plugged: Plugged, page: Page) -> None:
    before = len(plugged.front.came)
    page.goto(f"{plugged.netbox.url}/dcim/devices/?sort=fleet_runner_state&per_page=100")
    expect(page.locator("th", has_text="Fleet state")).to_be_visible()
    shot(page, "netbox-devices")
    badges = page.locator("td a.badge.text-bg-red")
    assert {"triage", "debug", "rma", "firmware failed"} <= set(badges.all_inner_texts())
    page.locator("td a.badge", has_text="triage").first.click()
    page.wait_for_url(re.compile("cf_fleet_state=triage"))
    found = page.locator("td a.badge[href*=cf_fleet_state]").all_inner_texts()
    assert set(found) == {"triage"}
    assert len(found) == len(plugged.hall.in_state(State.TRIAGE))
    assert page.locator("[name=cf_fleet_state]").count()
    assert len(plugged.front.came) == before  # fleet-runner is not asked for a list


def test_a_rack_is_drawn_in_the_colours_of_its_nodes_states(plugged: Plugged, page: Page) -> None:
    name = next(device.rack for device in plugged.hall.fleet.devices.values() if device.name == "gpu-00021")
    page.goto(f"{plugged.netbox.url}/dcim/racks/{plugged.racks[name or '']}/")
    page.get_by_role("link", name="Fleet states").click()
    front = page.locator(".rack_elevation svg").first
    expect(front).to_be_visible()
    shot(page, "netbox-rack")
    states = {node.name: node.state.value for node in plugged.hall.store.nodes()}
    mine = [device.name for device in plugged.hall.fleet.devices.values() if device.rack == name]
    for each in mine:
        expect(front).to_contain_text(f"{each}: {states[each].replace('_', ' ')}")
    assert len(mine) == 4


def test_the_menu_leads_to_how_many_nodes_are_in_each_state(plugged: Plugged, page: Page) -> None:
    page.goto(f"{plugged.netbox.url}/plugins/fleet-runner/states/")
    row = page.locator("tr", has_text="production")
    expect(row).to_contain_text(str(len(plugged.hall.in_state(State.PRODUCTION))))


def test_a_button_leaves_a_request_as_the_page_of_the_device_does(plugged: Plugged, page: Page) -> None:
    """Only what applies to the node is offered, and its change has the name of whoever asked."""
    page.goto(f"{plugged.netbox.url}{plugged.page(HELD)}")
    form = page.locator("[data-fleet=wishes] form")
    expect(form).to_be_visible(timeout=PATIENCE)
    assert form.get_by_role("button", name="Certify").count() == 0
    form.get_by_label("Reason").fill("its fans are <b>new</b>")
    form.get_by_role("button", name="Release").click()
    expect(page.get_by_text("Release: requested.")).to_be_visible()
    held = plugged.held(HELD)
    assert (held["fleet_wish"], held["fleet_wish_reason"]) == ("release", "its fans are <b>new</b>")
    assert held["fleet_state"] == "production"
    assert plugged.place.changes_since(plugged.place.last_change() - 1)[0].user == ASKER


def test_what_costs_something_is_asked_twice(plugged: Plugged, page: Page) -> None:
    page.goto(f"{plugged.netbox.url}{plugged.page(BROKEN)}")
    page.locator("[data-fleet=wishes] form").get_by_role("button", name="Reboot").click()
    expect(page.get_by_text("It is out of service until it has been verified.")).to_be_visible()
    assert plugged.held(BROKEN)["fleet_wish"] is None
    page.get_by_role("button", name="Reboot").click()
    page.wait_for_url(re.compile(plugged.page(BROKEN)))
    assert plugged.held(BROKEN)["fleet_wish"] == "reboot"


@pytest.mark.parametrize(
    ("name", "on", "may"),
    [
        (ASKER, BROKEN, True),
        (EDITOR, BROKEN, True),
        (ASKER, OTHER, False),
        (EDITOR, OTHER, False),
        (VIEWER, HELD, False),
    ],
)
def test_who_may_not_ask_sees_no_button_and_is_refused(name: str, on: str, *, may: bool, plugged: Plugged) -> None:
    """The right is one to change that very device, or the plugin's own."""
    before = plugged.held(on)["fleet_wish"]
    with plugged.client(name) as client:
        text = client.get(plugged.page(on, "panel")).text
        assert ('data-fleet="wishes"' in text) is may
        answer = asked(client, plugged, on, kind="hold", reason="x")
    assert answer.status_code == (302 if may else 403), answer.text
    assert plugged.held(on)["fleet_wish"] == ("hold" if may else before)


def test_a_device_that_somebody_may_not_view_is_not_there_for_them(plugged: Plugged) -> None:
    with plugged.client(STRANGER) as client:
        assert client.get(plugged.page(BROKEN, "panel")).status_code == 404
        assert asked(client, plugged, BROKEN, kind="hold").status_code == 404
        assert client.get(plugged.page(OTHER, "panel")).status_code == 200
        text = client.get("/plugins/fleet-runner/states/").text
        assert re.findall(r">(\d+)</a></td>", text) == ["1"]
    with httpx.Client(base_url=plugged.netbox.url, timeout=PATIENCE / 1000) as nobody:
        assert nobody.get(plugged.page(BROKEN, "panel")).headers["location"].startswith("/login/")


def test_a_request_that_no_form_of_netbox_sent_is_refused(plugged: Plugged) -> None:
    before = plugged.held(HELD)["fleet_wish"]
    with plugged.client(ASKER) as client:
        assert client.post(plugged.page(HELD, "wish"), data={"kind": "hold"}).status_code == 403
        assert client.get(plugged.page(HELD, "wish"), params={"kind": "hold"}).status_code == 405
        odd = asked(client, plugged, HELD, kind="wipe", reason="x" * 5_000)
        assert odd.status_code == 302
        assert "cannot be requested in NetBox" in client.get(plugged.page(HELD)).text
    assert plugged.held(HELD)["fleet_wish"] == before


def test_pages_of_a_fleet_runner_that_is_away_ask_it_once_and_show_what_netbox_holds(plugged: Plugged) -> None:
    """The last test: what it finds is remembered for a while."""
    plugged.front.hangs = True
    before = len(plugged.front.came)
    with plugged.client(VIEWER) as client:
        for name in plugged.hall.names[:8]:
            assert client.get(plugged.page(name)).status_code == 200
        assert len(plugged.front.came) == before  # the page itself asks nothing
        for name in plugged.hall.names[:8]:
            text = client.get(plugged.page(name, "panel")).text
            assert "fleet-runner does not answer" in text
            assert "production" in text
        assert len(plugged.front.came) == before + 1
    with plugged.client(EDITOR) as client:
        assert 'value="certify"' in client.get(plugged.page(BROKEN, "panel")).text  # all that NetBox takes
