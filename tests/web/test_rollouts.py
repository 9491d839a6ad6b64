"""Firmware, wave by wave, as people see it and steer it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, turned
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.firmware.waves import NO_WAVE
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.spool import Progress
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests.web.hall import HOSTILE, NOW, Hall, made, node
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall in which a rollout is in its second wave."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        found = made(store, 20, (State.PRODUCTION,))
        started(found, "hgx-h100")
        yield found


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """That hall, served."""
    folder: Path = tmp_path_factory.mktemp("state")
    with served(hall.store, hall.fleet, folder, firmware_rack_watts=12_000) as found:
        yield found


def started(hall: Hall, device_type: str) -> Rollout:
    """Start a rollout: its canary is done, one node is out, one failed, one is skipped, the rest waits."""
    names = [name for name in hall.names if hall.fleet.devices[name].device_type == device_type][8:]
    rollout = Rollout(0, device_type, "alice", NOW - 7_200, f"BMC 1.2 {HOSTILE}", 1, 4, 0.5, changed_at=NOW - 7_200)
    members = [Member(name, 0 if at == 0 else 1 + (at - 1) // 4) for at, name in enumerate(names[:-1])]
    skipped = Member(names[-1], NO_WAVE, RolloutStep.SKIPPED, f"it is held by bob: {HOSTILE}")
    made_so = hall.store.start_rollout(rollout, [*members, skipped])
    turns = [
        replace(members[0], turn=RolloutStep.DONE),
        replace(members[1], turn=RolloutStep.FAILED, detail=f"BMC failed: the BMC says {HOSTILE}"),
        replace(members[2], turn=RolloutStep.ASKED),
    ]
    made_so = hall.store.change_rollout(made_so, made_so, turns, now=NOW - 3_600)
    at = members[2].node
    move = Move(TRANSITIONS[State.PRODUCTION, Event.FIRMWARE_NEEDED], made_so.name)
    hall.store.apply(node(hall.store, at), Decision((move,), "", NOW), NOW - 600)
    opening = OpenRun(Stage.FIRMWARE, "", batch="flashing")
    waiting = "BMC 1.1 → 1.2: the BMC writes it, 45 %"
    hall.store.apply(node(hall.store, at), Decision((opening,), waiting, NOW), NOW - 500)
    hall.store.ingest("flashing", 0, 5, (Progress(at, NOW - 100, 2, 8, "firmware : Follow the update"),))
    return made_so


def test_a_rollout_is_told_wave_by_wave(site: Served) -> None:
    with site.client(Role.VIEWER) as client:
        assert "1 done, 1 failed, 1 out" in client.get("/rollouts", headers=PAGE).text
        text = client.get("/rollouts/1", headers=PAGE).text
    assert "Canary" in text
    assert "the BMC writes it, 45 %" in text
    assert "2 of 8 tasks" in text
    assert "The limit of failures is reached" not in text
    assert "Wave 1 has room for 2 more" in text
    assert "12000 W of a rack" in text
    assert "never cancels a running flash" in text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "Pause it" not in text


@pytest.mark.parametrize("number", ["0", "-1", "999", str(2**63), "9" * 400])
def test_a_rollout_that_is_not_there_is_said_so(site: Served, number: str) -> None:
    with site.client() as client:
        for path in (f"/rollouts/{number}", f"/rollouts/{number}/events", f"/rollouts/{number}/pause"):
            assert client.get(path, headers=PAGE).status_code in {404, 422}


def test_only_operators_steer_and_only_as_is_possible(site: Served, hall: Hall) -> None:
    for role in (Role.VIEWER, Role.TECHNICIAN):
        with site.client(role) as client:
            assert client.get("/rollouts/1/pause").status_code == 403
            assert client.post("/rollouts/1/pause", data={"reason": "x"}).status_code == 403
    with site.client(Role.TENANT, "Acme") as client:
        assert client.get("/rollouts/1/events").status_code == 403
    with site.client() as client:
        assert client.post("/rollouts/1/explode", data={"reason": "x"}).status_code == 404
        assert client.post("/rollouts/1/pause", data={"reason": " "}).status_code == 400
        refused = client.post("/rollouts/1/resume", data={"reason": "x"})
        assert refused.status_code == 409
        assert "it must be paused or stopped to be resumed" in refused.text
    found = hall.store.rollout(1)
    assert found is not None
    assert found.standing is RolloutStatus.RUNNING


def test_a_stopped_rollout_is_not_resumed_beside_another(site: Served, hall: Hall) -> None:
    first = hall.store.start_rollout(Rollout(0, "hgx-b200", "alice", NOW, "BMC 1.2", 1, 4, 0.5), [])
    stopped = hall.store.change_rollout(first, turned(first, RolloutStatus.STOPPED, "stopped", NOW), (), now=NOW)
    again = hall.store.start_rollout(replace(first, id=0, version=1), [])
    with site.client() as client:
        refused = client.post(f"/rollouts/{stopped.id}/resume", data={"reason": "x"})
        assert refused.status_code == httpx.codes.CONFLICT
        assert f"rollout {again.id} of device type hgx-b200 is running" in refused.text


def test_a_rollout_is_followed_and_paused_with_the_keyboard_alone(site: Served, hall: Hall, browser: Browser) -> None:
    for name, size, dark in (("dark", (1280, 800), True), ("phone", PHONE, False)):
        with opened(browser, site, size=size, dark=dark) as page:
            for path, kind in (("/rollouts", "rollouts"), ("/rollouts/1", "rollout"), ("/rollouts/1/pause", "turn")):
                page.goto(f"{site.url}{path}")
                accessible(page)
                fits(page)
                shot(page, f"{kind}-{name}")
    with opened(browser, site) as page:
        page.goto(f"{site.url}/rollouts/1")
        shot(page, "rollout-desktop")
        (run,) = [
            each for each in hall.store.open_runs() if each.stage is Stage.FIRMWARE and each.batch == "flashing"
        ]
        hall.store.ingest("flashing", 5, 9, (Progress(run.node, NOW, 7, 8, "firmware : Verify"),))
        expect(page.locator("#waves")).to_contain_text("7 of 8 tasks")
        page.get_by_role("link", name="Pause it").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/pause")
        expect(page.locator("[autofocus]")).to_be_focused()
        page.keyboard.type("the vendor asked")
        page.keyboard.press("Enter")
        page.wait_for_url("**/rollouts/1")
        expect(page.locator("#waves")).to_contain_text("paused by operator: the vendor asked")
    found = hall.store.rollout(1)
    assert found is not None
    assert found.standing is RolloutStatus.PAUSED
