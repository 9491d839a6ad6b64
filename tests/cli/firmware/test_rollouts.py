"""Rollouts as a person types them: who would be asked, who is, how it goes, and how it is stopped."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware.rollout import RolloutStatus, turned
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Management, Place, Rack, nodes
from fleet_runner.core.lifecycle.actions import Answer, Decision, Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held, IntentKind
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.adapters.sitefiles.writer import write_site
from tests.cli.conftest import Said, Type

WAY = (
    (State.REGISTERED, Event.START),
    (State.PROVISION, Event.PASSED),
    (State.ONBOARD, Event.CERTIFIED),
    (State.VERIFY, Event.PASSED),
    (State.FIRMWARE, Event.PASSED),
    (State.BURN_IN, Event.PASSED),
)
NAMES = [f"gpu-{number}" for number in range(1, 7)]
START = ("firmware", "rollout", "start", "--reason", "BMC 1.2")
Rollouts = Callable[..., Said]


def a_fleet() -> Fleet:
    """Six servers in two racks, of which the last is a customer's; and one of another type."""
    devices = {
        name: Device(name, "t", "gpu-server", "hall", "AB"[at % 2], serial=name) for at, name in enumerate(NAMES)
    }
    devices["gpu-6"] = replace(devices["gpu-6"], management=Management.CUSTOMER)
    devices["old-1"] = Device("old-1", "u", "gpu-server", "hall", "A", serial="old")
    racks = {f"hall/{name}": Rack(name, "hall") for name in "AB"}
    types = {slug: DeviceType(slug, "Example", slug.upper(), 1.0) for slug in "tu"}
    return Fleet(("hall",), racks, types, devices, ())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A fleet in production, with settings that lead to it and to its catalogue."""
    write_site(a_fleet(), tmp_path / "site")
    (tmp_path / "fleet.toml").write_text('source = "site"\ninventory = "inventory/fleet.yml"\n', "utf-8")
    catalogue(tmp_path)
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register(nodes(a_fleet()), 1.0)
        for row in WAY:
            for node in made.nodes():
                made.apply(node, Decision((Move(TRANSITIONS[row], "runner"),), "", 1e12), 2.0)
        yield made


def catalogue(folder: Path, target: object = "1.2", **more: Any) -> None:
    """Write what the device type should have."""
    (folder / "inventory" / "group_vars").mkdir(parents=True, exist_ok=True)
    rows = [{"component": "BMC", "inventory_id": "BMC", "target": target}]
    profile = {"fleet_profile": {"firmware": {"components": rows}, **more}}
    (folder / "inventory" / "group_vars" / "device_type_t.yml").write_text(yaml.safe_dump(profile), "utf-8")


def applied(store: Store, name: str, *actions: Any) -> None:
    """Carry something out on a node."""
    node = store.node(name)
    assert node is not None
    store.apply(node, Decision(actions, "it burns", 1e12), time.time())


def started(typed: Type, *more: str) -> None:
    """Start a rollout."""
    said = typed(*START, "--device-type", "t", "--yes", "--by", "ann", *more)
    assert said.code == 0, said.err


def test_a_dry_run_shows_each_wave_and_who_is_skipped_and_starts_nothing(typed: Type, store: Store) -> None:
    """The canary first; waves are spread over racks."""
    applied(store, "gpu-2", SetCondition(Condition.HELD, Held(3.0, "visitors", "bob")))
    said = typed(*START, "--device-type", "t", "--wave", "2", "--dry-run")
    assert said.code == 0
    assert "canary: 1 node, gpu-1" in said.words
    assert "wave 1: 2 nodes, gpu-4, gpu-3" in said.words
    assert "wave 2: 1 node, gpu-5" in said.words
    assert "skipped, it is held by bob: visitors: 1 node, gpu-2" in said.words
    assert "skipped, it is customer-managed" in said.words
    assert "at most 10% of the fleet out, 1 of a rack" in said.words
    assert store.rollouts() == ()
    as_json = json.loads(typed(*START, "--device-type", "t", "--dry-run", "--json").out)
    assert as_json["rollout"] is None
    assert {each["node"]: each["turn"] for each in as_json["nodes"]} == dict.fromkeys(NAMES, "waiting") | {
        "gpu-2": "skipped",
        "gpu-6": "skipped",
    }


def test_who_says_yes_starts_it(typed: Type, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who does not, does not."""
    monkeypatch.setattr("sys.stdin.readline", lambda *_: "n\n")
    assert typed(*START, "--device-type", "t").code == 1
    assert store.rollouts() == ()
    said = typed(*START, "--device-type", "t", "--canary", "2", "--wave", "3", "--failed-share", "0.25", "--yes")
    assert "rollout 1 is started; follow it: fleet-runner firmware rollout show 1" in said.words
    (rollout,) = store.rollouts()
    assert (rollout.canary, rollout.wave, rollout.failed_share, rollout.reason) == (2, 3, 0.25, "BMC 1.2")
    members = {each.node: (each.wave, each.turn) for each in store.rollout_members(1)}
    assert members["gpu-1"] == members["gpu-2"] == (0, RolloutStep.WAITING)
    assert members["gpu-6"][1] is RolloutStep.SKIPPED


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (("--node", "gpu-1,gpu-6", "--node", "gpu-3"), {"gpu-1", "gpu-3", "gpu-6"}),
        (("--device-type", "t", "--rack", "A"), {"gpu-1", "gpu-3", "gpu-5"}),
        (("--device-type", "t", "--rack", "hall/B"), {"gpu-2", "gpu-4"}),
        (("--device-type", "t", "--site", "hall"), {"gpu-1", "gpu-2", "gpu-3", "gpu-4", "gpu-5"}),
    ],
)
def test_options_choose_the_nodes(typed: Type, store: Store, options: tuple[str, ...], asked: set[str]) -> None:
    """A customer's node only by its name."""
    said = json.loads(typed(*START, *options, "--yes", "--json").out)
    assert {each["node"] for each in said["nodes"] if each["turn"] == "waiting"} == asked
    assert {
        each.node for each in store.rollout_members(said["rollout"]["id"]) if each.turn is RolloutStep.WAITING
    } == asked


def test_a_node_whose_record_names_no_rack_or_is_gone_counts_where_it_last_was(
    typed: Type, store: Store, tmp_path: Path
) -> None:
    """It is chosen with its rack-mates, and waves keep it apart from them."""
    store.keep_places({name: Place("hall", "hall/A") for name in ("gpu-1", "gpu-3", "gpu-5")})
    fleet = a_fleet()
    devices = {**fleet.devices, "gpu-1": replace(fleet.devices["gpu-1"], rack=None)}
    del devices["gpu-5"]
    write_site(replace(fleet, devices=devices), tmp_path / "site")
    ordered = json.loads(typed(*START, "--device-type", "t", "--dry-run", "--json").out)["nodes"]
    assert [each["node"] for each in ordered if each["turn"] == "waiting"] == ["gpu-1", "gpu-2", "gpu-3", "gpu-4"]
    said = json.loads(typed(*START, "--rack", "A", "--site", "hall", "--device-type", "t", "--yes", "--json").out)
    assert {each["node"]: each["turn"] for each in said["nodes"]} == {
        "gpu-1": "waiting",
        "gpu-3": "waiting",
        "gpu-5": "skipped",
    }


def test_who_is_on_target_already_is_skipped(typed: Type, store: Store) -> None:
    """By the newest evidence of its firmware."""
    seen = Result("firmware_pins", Verdict.PASS, "1 component", observed={"versions": {"BMC": "1.2"}})
    store.record_by_hand(Stage.FIRMWARE, "bob", [Judged("gpu-1", 5.0, seen)], 5.0)
    assert "everything is already on its target: 1 node, gpu-1" in typed(*START, "--node", "gpu-1,gpu-2", "-y").words
    assert store.rollout_members(1)[0] == Member(
        "gpu-1", -1, RolloutStep.SKIPPED, "everything is already on its target"
    )


@pytest.mark.parametrize(("secure", "skipped"), [(True, True), (False, False), (None, False)])
def test_nobody_is_on_target_whose_boot_settings_differ(
    typed: Type, store: Store, tmp_path: Path, secure: bool | None, skipped: bool
) -> None:
    catalogue(tmp_path, boot_settings={"secure_boot": True})
    pins = Result("firmware_pins", Verdict.PASS, "1 component", observed={"versions": {"BMC": "1.2"}})
    attributes = {"boot_settings.secure_boot": secure}
    boot = Result("boot_settings", Verdict.PASS, "as it was then", observed={"attributes": attributes})
    seen = [Judged("gpu-1", 5.0, each) for each in (pins, boot) if each is pins or secure is not None]
    store.record_by_hand(Stage.FIRMWARE, "bob", seen, 5.0)
    words = typed(*START, "--node", "gpu-1,gpu-2", "-y").words
    assert ("everything is already on its target" in words) is skipped


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "the nodes have several device types; choose one: --device-type t or u"),
        (("--device-type", "x"), 2, "these options select no node"),
        (("--device-type", "t", "--site", "elsewhere"), 2, "these options select no node"),
        (("--device-type", "u", "--node", "gpu-1"), 2, "not all of these nodes have device type u: found t"),
        (("--node", "gpu-9"), 2, "no node 'gpu-9' in the store"),
        (("--device-type", "u"), 2, "found no fleet_profile, expected the profile of device type u"),
        (("--device-type", "t", "--canary", "0"), 2, "greater than or equal to 1"),
        (("--device-type", "t", "--failed-share", "2"), 2, "less than or equal to 1"),
        (("--device-type", "t", "--failed-share", "nan"), 2, "less than or equal to 1"),
    ],
)
def test_what_cannot_be_started_says_why(
    typed: Type, store: Store, options: tuple[str, ...], code: int, said: str
) -> None:
    """With the next step, and nothing is written."""
    answer = typed(*START, *options, "--yes")
    assert answer.code == code
    assert said in " ".join(answer.err.replace("│", " ").split())
    assert store.rollouts() == ()


def test_a_catalogue_that_is_unusable_starts_nothing(typed: Type, store: Store, tmp_path: Path) -> None:
    """It is told which field is wrong."""
    catalogue(tmp_path, target=1.2)
    answer = typed(*START, "--device-type", "t", "--yes")
    assert answer.code == 2
    assert "target" in answer.err
    (tmp_path / "inventory" / "group_vars" / "device_type_t.yml").write_text("a: [", "utf-8")
    assert "it is not YAML" in typed(*START, "--device-type", "t", "--yes").err


def test_a_second_rollout_of_a_type_and_one_for_nobody_are_refused(typed: Type, store: Store) -> None:
    """The answer is no."""
    started(typed)
    again = typed(*START, "--device-type", "t", "--yes")
    assert again.code == 1
    assert again.err == "no: rollout 1 of device type t is running; stop it first, or wait for it\n"
    applied(store, "gpu-1", SetCondition(Condition.HELD, Held(3.0, "", "bob")))
    nobody = typed(*START, "--node", "gpu-1", "--yes")
    assert (nobody.code, nobody.err) == (1, "no: there is no node to update; nothing was started\n")


def test_show_tells_each_waves_progress_and_every_reason(typed: Type, store: Store) -> None:
    """Who is out and where, what failed, who was skipped."""
    started(typed, "--canary", "2", "--wave", "2")
    (rollout,) = store.rollouts()
    rollout = store.change_rollout(
        rollout,
        rollout,
        [Member("gpu-1", 0, RolloutStep.ASKED), Member("gpu-2", 0, RolloutStep.ASKED)],
        now=time.time(),
    )
    (intent,) = store.intents("gpu-1")
    applied(store, "gpu-1", Answer(intent.id, accepted=True, sentence="It is pending."))
    applied(store, "gpu-1", Move(TRANSITIONS[State.PRODUCTION, Event.FIRMWARE_NEEDED], "runner"))
    failed = Member("gpu-2", 0, RolloutStep.FAILED, "BMC is rolled back to 1.1", intent=intent.id)
    stopped = turned(rollout, RolloutStatus.STOPPED, "stopped: gpu-2 of the canary failed", time.time())
    store.change_rollout(rollout, stopped, [failed], now=time.time())
    assert typed("firmware", "rollout", "show").out == typed("firmware", "rollout", "list").out
    said = typed("firmware", "rollout", "show", "1")
    assert said.code == 0
    for text in (
        "rollout 1 stopped: t, BMC 1.2",
        "stopped: gpu-2 of the canary failed (",
        "canary: 1 failed, 1 out",
        "wave 1: 2 waiting",
        "failed: gpu-2: BMC is rolled back to 1.1",
        "out: gpu-1: in firmware for ",
        "skipped, it is customer-managed",
    ):
        assert text in said.words
    as_json = json.loads(typed("firmware", "rollout", "show", "1", "--json").out)
    assert as_json["rollout"]["standing"] == "stopped"
    assert {each["member"]["node"]: each["state"] for each in as_json["nodes"]}["gpu-1"] == "firmware"
    line = typed("firmware", "rollout", "list").words
    assert "1 stopped t" in line
    assert "1 failed, 1 out, 3 waiting, 1 skipped" in line
    (listed,) = json.loads(typed("firmware", "rollout", "list", "--json").out)
    assert listed["nodes"] == {"waiting": 3, "asked": 1, "done": 0, "failed": 1, "skipped": 1}


def test_without_a_rollout_list_says_how_to_begin_one(typed: Type, store: Store) -> None:
    """And show names the command that lists them."""
    assert "start one: fleet-runner firmware rollout start" in typed("firmware", "rollout", "list").words
    assert json.loads(typed("firmware", "rollout", "list", "--json").out) == []
    assert "start one: fleet-runner firmware rollout start" in typed("firmware", "rollout", "show").words
    for number in ("7", str(2**70)):
        missing = typed("firmware", "rollout", "show", number)
        assert missing.code == 2
        assert f"there is no rollout {number}; see fleet-runner firmware rollout list" in missing.err


def test_a_rollout_is_paused_resumed_and_stopped_with_a_reason(typed: Type, store: Store) -> None:
    """Only where that means something."""
    started(typed)
    for verb, words, standing in (
        ("pause", "paused by ann: lunch", RolloutStatus.PAUSED),
        ("resume", "resumed by ann: lunch", RolloutStatus.RUNNING),
        ("stop", "stopped by ann: lunch", RolloutStatus.STOPPED),
    ):
        said = typed("firmware", "rollout", verb, "1", "--reason", "lunch", "--by", "ann")
        assert (said.code, said.out) == (0, f"rollout 1 is {words}\n")
        assert [(each.standing, each.detail) for each in store.rollouts()] == [(standing, words)]
    refused = typed("firmware", "rollout", "pause", "1", "--reason", "lunch")
    assert (refused.code, refused.err) == (1, "no: rollout 1 is stopped; it must be running to be paused\n")
    assert typed("firmware", "rollout", "stop", "1").code == 2
    assert json.loads(typed("firmware", "rollout", "resume", "1", "-r", "x", "--json").out)["standing"] == "running"


def test_a_stopped_rollout_is_not_resumed_beside_another(typed: Type, store: Store) -> None:
    """Two would ask the same nodes."""
    started(typed)
    typed("firmware", "rollout", "stop", "1", "--reason", "x")
    started(typed)
    refused = typed("firmware", "rollout", "resume", "1", "--reason", "x")
    assert (refused.code, refused.err) == (
        1,
        "no: rollout 2 of device type t is running; stop it first, or wait for it\n",
    )


def test_a_person_asks_for_one_node(typed: Type, store: Store) -> None:
    """By a request like any other."""
    said = typed("firmware", "update", "gpu-6", "--reason", "asked by its owner", "--by", "ann", "--wait", "0")
    assert said.code == 4
    (intent,) = store.intents("gpu-6")
    assert (intent.kind, intent.by, intent.reason) == (IntentKind.FIRMWARE, "ann", "asked by its owner")
