"""Power by hand and by the runner: not while a flash of the node may be under way, unless a person allowed it."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.firmware.flash import End
from fleet_runner.reconcile.firmware.driver import lease, power_guard
from tests.adapters.redfish.replay import PASSWORD, USER, replayed, small
from tests.adapters.store.builders import device
from tests.adapters.store.flashing import flash
from tests.playing import Ansible, inventory

SYSTEM = "/redfish/v1/Systems/1"
NODES = ("gpu-01", "gpu-02", "gpu-03", "gpu-04")
DRIVER = "runner-1:42"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with a flash of gpu-01, which nobody drives any more, one of gpu-02 that a person looked after."""
    now = time.time()
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as opened:
        opened.register([device(name) for name in NODES], 1.0)
        for name in NODES[:2]:
            opened.lease(name, DRIVER, run=None, now=now, seconds=60.0)
            opened.intend(flash(name), DRIVER, now=now)
            opened.unlease(name, DRIVER)
        opened.allow_power("gpu-02", "ada", "the vendor asks for it", now, 3600.0)
        yield opened


def test_power_and_firmware_keep_apart(store: Store) -> None:
    """Also from a flash that begins while power is switched."""
    now = time.time()
    with (
        pytest.raises(ConflictError, match=r"flash 1 of gpu-01 \(BIOS\) is intended"),
        power_guard.power(store, "gpu-01"),
    ):
        raise AssertionError
    with power_guard.power(store, "gpu-02"), power_guard.power(None, "gpu-01"), power_guard.power(store, "unknown"):
        pass
    with power_guard.power(store, "gpu-03"), pytest.raises(ConflictError, match="power:"):
        store.lease("gpu-03", DRIVER, run=None, now=now, seconds=60.0)
    store.lease("gpu-03", DRIVER, run=None, now=now, seconds=60.0)
    with pytest.raises(ConflictError, match=f"{DRIVER} is at its firmware"), power_guard.power(store, "gpu-03"):
        raise AssertionError
    store.lease("gpu-01", DRIVER, run=None, now=now, seconds=60.0)  # the refusal left nothing behind
    store.end_flash(1, DRIVER, End.VERIFIED, "", now)
    store.unlease("gpu-01", DRIVER)
    with power_guard.power(store, "gpu-01"):
        pass


def test_power_that_comes_late_is_not_switched(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One who was frozen for longer than the node stays closed, and one who was thought dead."""
    clock = [0.0]
    monkeypatch.setattr(lease, "_ticks", lambda: clock[0])
    with power_guard.power(store, "gpu-03") as alive:
        for clock[0] in (200.0, 400.0, 600.0):
            alive()  # closed for as long again, each time
        assert (store.firmware_holder("gpu-03", time.time()) or ("", 0.0))[1] > time.time() + power_guard.SECONDS / 2
        clock[0] = 601.0 + power_guard.SECONDS
        with pytest.raises(ConflictError, match="nothing more is sent"):
            alive()
    with power_guard.power(store, "gpu-03") as alive:
        store.lease("gpu-03", DRIVER, run=None, now=time.time() + power_guard.SECONDS + 1, seconds=60.0)
        with pytest.raises(ConflictError, match=f"{DRIVER} is at its firmware"):
            alive()


def test_a_play_asks_before_each_power_action(store: Store, tmp_path: Path) -> None:
    """A driver comes in between off and on: the node stays off, and the play says why."""
    with replayed(small()) as bmc:
        bmc.tree[SYSTEM]["Actions"]["#ComputerSystem.Reset"]["ResetType@Redfish.AllowableValues"] = ["On", "ForceOff"]
        bmc.switched = lambda action: _taken(store, bmc.tree, action)
        answer = _played(tmp_path, tmp_path / "state", {"gpu-03": bmc.url}, "cycle")
        assert bmc.tree[SYSTEM]["PowerState"] == "Off"
    assert f"redfish_power: node gpu-03: {DRIVER} is at its firmware" in answer


def test_power_is_not_switched_at_a_bmc_with_an_open_flash_under_another_name(store: Store) -> None:
    now, url = time.time(), "https://bmc-04.example"
    store.lease("gpu-04", DRIVER, run=None, now=now, seconds=60.0, bmc=url)
    store.intend(flash("gpu-04"), DRIVER, now=now)
    store.unlease("gpu-04", DRIVER)
    with (
        pytest.raises(ConflictError, match=r"flash 3 of gpu-04 is open at the same BMC"),
        power_guard.power(store, "gpu-03", url),
    ):
        raise AssertionError


@pytest.mark.parametrize("there", [True, False])
def test_a_play_by_hand_asks_the_store_where_there_is_one(store: Store, tmp_path: Path, there: bool) -> None:
    """One node's flash is open, another's too but a person allowed power, a third has none; or no store yet."""
    state = tmp_path / ("state" if there else "elsewhere")
    with replayed(small()) as one, replayed(small()) as two, replayed(small()) as three:
        bmcs = dict(zip(NODES, (one, two, three), strict=False))
        for bmc in bmcs.values():
            bmc.switched = partial(_off, bmc.tree)
        said = _played(tmp_path, state, {name: bmc.url for name, bmc in bmcs.items()}, "off")
        sent = [name for name, bmc in bmcs.items() if bmc.tree[SYSTEM]["PowerState"] == "Off"]
    assert sent == (["gpu-02", "gpu-03"] if there else ["gpu-01", "gpu-02", "gpu-03"]), said
    assert ("redfish_power: flash 1 of gpu-01 (BIOS) is intended" in said) is there
    assert (state / "fleet.db").exists() is there


def _played(folder: Path, state: Path, bmcs: dict[str, str], action: str) -> str:
    """Play a power action of some nodes, and return what Ansible says."""
    mine = {"username": USER, "password": PASSWORD}  # by the nodes' names alone
    (folder / "bmc.yml").write_text(yaml.safe_dump({"devices": {"gpu-*": mine}}))
    (folder / "bmc.yml").chmod(0o600)
    task = {"name": "It is switched", "redfish_power": {"action": action}}
    (folder / "play.yml").write_text(
        yaml.safe_dump([{"name": "Play", "hosts": "nodes", "gather_facts": False, "tasks": [task]}])
    )
    variables = {"FLEET_STATE_DIR": str(state), "FLEET_BMC_CREDENTIALS": str(folder / "bmc.yml")}
    nodes = inventory(folder / "inventory.yml", {name: {"fleet_bmc_url": url} for name, url in bmcs.items()})
    answer = Ansible(folder / "home", variables)("ansible-playbook", "-i", nodes, folder / "play.yml")
    return answer.stdout + answer.stderr


def _taken(store: Store, tree: dict[str, dict[str, str]], action: str) -> int:
    store.lease("gpu-03", DRIVER, run=None, now=time.time() + power_guard.SECONDS + 1, seconds=60.0)
    return _off(tree, action)


def _off(tree: dict[str, dict[str, str]], action: str) -> int:
    tree[SYSTEM]["PowerState"] = "Off" if action == "ForceOff" else "On"
    return 204
