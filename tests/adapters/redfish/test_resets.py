"""The resets that make firmware run, on captured machines and on trees as other vendors have them."""

import gzip
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, Limits, resets
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.core.base.errors import BmcError, BmcRefused, FleetError, NotOfferedError
from tests.adapters.redfish.replay import PASSWORD, USER, Replay, break_off, replayed, talk, updating

ROOT = "/redfish/v1"
SYSTEM, MANAGER, CHASSIS = f"{ROOT}/Systems/1", f"{ROOT}/Managers/1", f"{ROOT}/Chassis/1"


def captured(samples: Path, name: str) -> dict[str, Any]:
    """Return a captured tree."""
    tree: dict[str, Any] = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    return tree


def machine(chassis: Any = None, **manager: Any) -> dict[str, Any]:
    """Return a computer with one BMC in one chassis."""
    tree = updating()
    links = {"ManagedBy": [{"@odata.id": MANAGER}], "Chassis": [{"@odata.id": CHASSIS}]}
    tree[SYSTEM]["Links"] = links
    tree[f"{ROOT}/Managers"] = {"@odata.id": f"{ROOT}/Managers", "Members": [{"@odata.id": MANAGER}]}
    tree[f"{ROOT}/Chassis"] = {"@odata.id": f"{ROOT}/Chassis", "Members": [{"@odata.id": CHASSIS}]}
    tree[CHASSIS] = {"@odata.id": CHASSIS, **(chassis or {})}
    tree[MANAGER] = {"@odata.id": MANAGER, **manager}
    return tree


def reset(name: str, *values: str, where: str = SYSTEM) -> dict[str, Any]:
    """Return an action with what it allows; nothing where it does not say."""
    allowed = {"ResetType@Redfish.AllowableValues": list(values)} if values else {}
    return {f"#{name}": {"target": f"{where}/Actions/{name}", **allowed}}


def power(server: Replay, allowed: list[str], state: str = "On") -> list[str]:
    """Make a server's computer one that obeys and allows some actions, and return what it does."""
    done: list[str] = []
    body = server.tree[SYSTEM]
    body["Actions"]["#ComputerSystem.Reset"]["ResetType@Redfish.AllowableValues"] = allowed
    body["PowerState"] = state

    def switch(action: str) -> int:
        done.append(action)
        body["PowerState"] = "Off" if action == "ForceOff" else "On"
        return 204

    server.switched = switch
    return done


def test_the_bmc_that_is_restarted_is_the_computers_own(samples: Path) -> None:
    """A DGX has three managers, one of them a BMC of its GPU baseboard, and says nothing of what it allows."""
    for name, manager in (("dgx_h100", "BMC"), ("supermicro_hgx_h100", "1")):
        with replayed(captured(samples, name)) as server, talk(server) as bmc:
            Updates(bmc).reset_bmc()
            target = f"{ROOT}/Managers/{manager}/Actions/Manager.Reset"
            assert server.said("POST") == [(target, {"ResetType": "GracefulRestart"})]


def test_a_bmc_is_restarted_as_it_allows() -> None:
    with (
        replayed(machine(Actions=reset("Manager.Reset", "ForceRestart", where=MANAGER))) as server,
        talk(server) as bmc,
    ):
        Updates(bmc).reset_bmc()
        assert [sent for _, sent in server.said("POST")] == [{"ResetType": "ForceRestart"}]
    with replayed(machine(Actions=reset("Manager.Reset", "ForceOff", where=MANAGER))) as server, talk(server) as bmc:
        with pytest.raises(
            NotOfferedError, match="can be reset by ForceOff; expected GracefulRestart or ForceRestart"
        ):
            Updates(bmc).reset_bmc()
        server.tree[MANAGER] = {"@odata.id": MANAGER}
        with pytest.raises(NotOfferedError, match="offers no reset"):
            Updates(bmc).reset_bmc()
        assert server.said("POST") == []


def test_a_bmc_that_does_not_say_what_it_allows_is_asked_both_ways() -> None:
    with replayed(machine(Actions=reset("Manager.Reset", where=MANAGER))) as server, talk(server) as bmc:
        server.statuses["POST", f"{MANAGER}/Actions/Manager.Reset"] = [400]
        Updates(bmc).reset_bmc()
        assert [sent["ResetType"] for _, sent in server.said("POST")] == ["GracefulRestart", "ForceRestart"]
        server.statuses["POST", f"{MANAGER}/Actions/Manager.Reset"] = [400, 403]
        with pytest.raises(BmcRefused, match=r"answered 403 to Manager\.Reset") as refused:
            Updates(bmc).reset_bmc()
        assert not isinstance(refused.value, NotOfferedError)


def test_a_bmc_that_restarts_before_it_answers_was_reset() -> None:
    """And its session is gone: what comes next opens another."""
    with replayed(machine(Actions=reset("Manager.Reset", where=MANAGER))) as server, talk(server) as bmc:
        server.broken = {f"{MANAGER}/Actions/Manager.Reset": break_off}
        Updates(bmc).reset_bmc()
        assert len(server.said("POST")) == 1
        assert server.tokens == 1
        Updates(bmc).inventory()
        assert server.tokens == 2


def test_a_bmc_that_falls_silent_was_reset() -> None:
    """It lost power to its network before it could even end the connection."""
    over = threading.Event()
    limits = Limits(read_seconds=3.0)
    tree = machine(Actions=reset("Manager.Reset", where=MANAGER))
    with replayed(tree) as server, Bmc(server.url, USER, PASSWORD, limits=limits) as bmc:
        server.broken = {f"{MANAGER}/Actions/Manager.Reset": lambda _: over.wait(60)}
        try:
            Updates(bmc).reset_bmc()
        finally:
            over.set()
        assert len(server.said("POST")) == 1


def test_a_bmc_that_was_never_reached_was_not_reset() -> None:
    with replayed(machine(Actions=reset("Manager.Reset", where=MANAGER))) as server:
        bmc = talk(server)
    with bmc, pytest.raises(BmcError, match="the connection failed"):
        Updates(bmc).reset_bmc()


def test_of_several_managers_the_one_that_names_the_computer_is_meant() -> None:
    tree = machine(Actions=reset("Manager.Reset", where=MANAGER))
    other = f"{ROOT}/Managers/2"
    del tree[SYSTEM]["Links"]["ManagedBy"]
    tree[f"{ROOT}/Managers"]["Members"].append({"@odata.id": other})
    tree[other] = {"@odata.id": other, "Actions": reset("Manager.Reset", where=other)}
    with replayed(tree) as server, talk(server) as bmc:
        with pytest.raises(
            BmcError, match=r"which of its managers \(.*/1, .*/2\) belongs to the computer is unknown"
        ):
            Updates(bmc).reset_bmc()
        tree[other]["Links"] = {"ManagerForServers": [{"@odata.id": f"{SYSTEM}/"}]}
        Updates(bmc).reset_bmc()
        assert server.said("POST")[-1][0] == f"{other}/Actions/Manager.Reset"
        tree[other] = {"@odata.id": other}
        Updates(bmc).reset_bmc()
        assert server.said("POST")[-1][0] == f"{MANAGER}/Actions/Manager.Reset"


@pytest.mark.parametrize(
    ("allowed", "state", "done"),
    [
        (["On", "ForceOff", "PowerCycle", "ForceRestart"], "On", ["PowerCycle"]),
        (["On", "ForceOff", "ForceRestart"], "On", ["ForceOff", "On"]),
        ([], "On", ["ForceOff", "On"]),
        (["ForceRestart", "GracefulShutdown"], "On", ["ForceRestart"]),
        (["On", "ForceOff", "PowerCycle"], "Off", ["On"]),
    ],
)
def test_a_computer_is_reset_as_cold_as_its_bmc_can(allowed: list[str], state: str, done: list[str]) -> None:
    with replayed(machine()) as server, talk(server) as bmc:
        did = power(server, allowed, state)
        Updates(bmc).reset_host()
    assert did == done


def test_a_power_cycle_that_is_refused_becomes_off_and_on() -> None:
    with replayed(machine()) as server, talk(server) as bmc:
        did = power(server, ["On", "ForceOff", "PowerCycle"])
        server.statuses["POST", f"{SYSTEM}/Actions/ComputerSystem.Reset"] = [400]
        Updates(bmc).reset_host()
    assert did == ["ForceOff", "On"]


def test_a_computer_that_stays_on_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resets, "SWITCH_SECONDS", 0.2)
    monkeypatch.setattr(resets, "PAUSE", 0.01)
    with replayed(machine()) as server, talk(server) as bmc:
        server.tree[SYSTEM]["Actions"]["#ComputerSystem.Reset"].pop("ResetType@Redfish.AllowableValues")
        with pytest.raises(BmcError, match="switched Off, but it is On"):
            Updates(bmc).reset_host()
        assert [sent["ResetType"] for _, sent in server.said("POST")] == ["ForceOff"]


def test_who_watches_can_stop_a_reset_between_off_and_on() -> None:
    def alive() -> None:
        raise FleetError("another runner has the lease")

    with replayed(machine()) as server, talk(server) as bmc:
        server.tree[SYSTEM]["Actions"]["#ComputerSystem.Reset"].pop("ResetType@Redfish.AllowableValues")
        with pytest.raises(FleetError, match="another runner has the lease"):
            Updates(bmc).reset_host(alive)


LENOVO = {"Oem": reset("LenovoComputerSystem.SystemReset", "ACPowerCycle")}
NVIDIA = {"Oem": reset("NvidiaChassis.AuxPowerReset", where=CHASSIS)}
ENCLOSURE = reset("Chassis.Reset", "PowerCycle", "FullPowerCycle", where=CHASSIS)


@pytest.mark.parametrize(
    ("system", "chassis", "sent"),
    [
        (reset("ComputerSystem.Reset", "On", "FullPowerCycle"), {}, (SYSTEM, {"ResetType": "FullPowerCycle"})),
        (
            {"Oem": {"Hpe": reset("HpeComputerSystemExt.SystemReset", "ForceRestart", "AuxCycle")}},
            {},
            (SYSTEM, {"ResetType": "AuxCycle"}),
        ),
        (LENOVO, {}, (SYSTEM, {"ResetType": "ACPowerCycle"})),
        ({"Oem": reset("OemSystemExtensions.Reset")}, {}, (SYSTEM, {"ResetType": "ACCycle"})),
        ({}, reset("Chassis.Reset", "PowerCycle", where=CHASSIS), (CHASSIS, {"ResetType": "PowerCycle"})),
        ({}, ENCLOSURE, (CHASSIS, {"ResetType": "FullPowerCycle"})),
        ({}, NVIDIA, (CHASSIS, {"ResetType": "AuxPowerCycleForce"})),
        (
            {},
            {"Oem": reset("DellOemChassis.ExtendedReset", "PowerCycle", where=CHASSIS)},
            (CHASSIS, {"ResetType": "PowerCycle", "FinalPowerState": "On"}),
        ),
    ],
)  # fmt: skip
def test_all_power_is_taken_as_each_vendor_calls_it(system: Any, chassis: Any, sent: tuple[str, Any]) -> None:
    tree = machine({"Actions": chassis})
    tree[SYSTEM]["Actions"] |= system
    with replayed(tree) as server, talk(server) as bmc:
        Updates(bmc).ac_drain()
        [(target, body)] = server.said("POST")
    assert target.startswith(f"{sent[0]}/Actions/")
    assert body == sent[1]


def test_a_gb200s_power_is_taken_at_another_chassis_than_the_computers() -> None:
    tree = machine()
    there = f"{ROOT}/Chassis/BMC_0"
    tree[f"{ROOT}/Chassis"]["Members"].append({"@odata.id": there})
    info = f"{there}/Oem/Nvidia/AuxPowerResetActionInfo"
    action = {"target": f"{there}/Actions/Oem/NvidiaChassis.AuxPowerReset", "@Redfish.ActionInfo": info}
    tree[there] = {"@odata.id": there, "Actions": {"Oem": {"#NvidiaChassis.AuxPowerReset": action}}}
    values = {"Name": "ResetType", "AllowableValues": ["AuxPowerCycle", "AuxPowerCycleForce"]}
    tree[info] = {"@odata.id": info, "Parameters": [values]}
    with replayed(tree) as server, talk(server) as bmc:
        server.statuses["POST", action["target"]] = [400]  # an older one knows no Force
        Updates(bmc).ac_drain()
        assert [sent for _, sent in server.said("POST")] == [
            {"ResetType": "AuxPowerCycleForce"},
            {"ResetType": "AuxPowerCycle"},
        ]


def test_the_outermost_chassis_comes_first_and_a_circle_of_them_ends() -> None:
    tree = machine({"Links": {"ContainedBy": {"@odata.id": f"{ROOT}/Chassis/rack"}}})
    rack = f"{ROOT}/Chassis/rack"
    tree[CHASSIS]["Actions"] = reset("Chassis.Reset", "FullPowerCycle", where=CHASSIS)
    tree[rack] = {
        "@odata.id": rack,
        "Links": {"ContainedBy": {"@odata.id": CHASSIS}},
        "Actions": reset("Chassis.Reset", "FullPowerCycle", where=rack),
    }
    with replayed(tree) as server, talk(server) as bmc:
        Updates(bmc).ac_drain()
        assert server.said("POST")[0][0].startswith(rack)


def test_a_machine_that_offers_no_way_to_take_all_power_is_refused_before_anything_is_sent(samples: Path) -> None:
    """Neither captured machine lists one: a technician has to pull its cords."""
    for name in ("dgx_h100", "supermicro_hgx_h100"):
        with replayed(captured(samples, name)) as server, talk(server) as bmc:
            with pytest.raises(NotOfferedError, match="cannot cut all power over Redfish"):
                Updates(bmc).ac_drain()
            assert server.said("POST") == []


@pytest.mark.parametrize(
    ("manager", "since"),
    [
        ({"LastResetTime": "2026-01-01T00:00:00Z", "DateTime": "2026-01-01T00:10:00Z"}, 600.0),
        ({"LastResetTime": "2026-01-01T02:00:00+02:00", "DateTime": "2026-01-01T00:00:30Z"}, 30.0),
        ({"LastResetTime": "1970-01-01T00:00:20Z", "DateTime": "2026-01-01T00:10:00Z"}, None),
        ({"DateTime": "2026-01-01T00:10:00Z"}, None),
        ({"LastResetTime": 7}, None),
    ],
)
def test_when_a_bmc_started_is_told_in_our_time(manager: dict[str, Any], since: float | None) -> None:
    with replayed(machine(**manager)) as server, talk(server) as bmc:
        began = time.time()
        found = Updates(bmc).bmc_reset_at()
        ended = time.time()
    assert found is None if since is None else began - since - 1 <= (found or 0) <= ended - since + 1


def test_a_manager_that_cannot_be_read_tells_nothing() -> None:
    with replayed(machine(LastResetTime="2026-01-01T00:00:00Z")) as server, talk(server) as bmc:
        server.statuses["GET", MANAGER] = [500, 500]
        with pytest.raises(BmcError, match="answered 500"):
            Updates(bmc).bmc_reset_at()
