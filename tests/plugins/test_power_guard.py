"""Power by hand and by the runner: not while a flash of the node may be under way, unless a person allowed it."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.errors import ConflictError
from fleet_runner.core.firmware.flash import End
from fleet_runner.firmware import guarding
from tests.adapters.redfish_replay import PASSWORD, USER, replayed, small
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
        guarding.power(store, "gpu-01"),
    ):
        raise AssertionError
    with guarding.power(store, "gpu-02"), guarding.power(None, "gpu-01"), guarding.power(store, "unknown"):
        pass
    with guarding.power(store, "gpu-03"), pytest.raises(ConflictError, match="power:"):
        store.lease("gpu-03", DRIVER, run=None, now=now, seconds=60.0)
    store.lease("gpu-03", DRIVER, run=None, now=now, seconds=60.0)
    with pytest.raises(ConflictError, match=f"{DRIVER} is at its firmware"), guarding.power(store, "gpu-03"):
        raise AssertionError
    store.lease("gpu-01", DRIVER, run=None, now=now, seconds=60.0)  # the refusal left nothing behind
    store.end_flash(1, DRIVER, End.VERIFIED, "", now)
    store.unlease("gpu-01", DRIVER)
    with guarding.power(store, "gpu-01"):
        pass


@pytest.mark.parametrize("there", [True, False])
def test_a_play_by_hand_asks_the_store_where_there_is_one(store: Store, tmp_path: Path, there: bool) -> None:
    """One node's flash is open, another's too but a person allowed power, a third has none; or no store yet."""
    (tmp_path / "bmc.yml").write_text(yaml.safe_dump({"username": USER, "password": PASSWORD}))
    (tmp_path / "bmc.yml").chmod(0o600)
    task = {"name": "It is off", "redfish_power": {"action": "off"}}
    (tmp_path / "play.yml").write_text(
        yaml.safe_dump([{"name": "Play", "hosts": "nodes", "gather_facts": False, "tasks": [task]}])
    )
    state = tmp_path / ("state" if there else "elsewhere")
    variables = {"FLEET_STATE_DIR": str(state), "FLEET_BMC_CREDENTIALS": str(tmp_path / "bmc.yml")}
    with replayed(small()) as one, replayed(small()) as two, replayed(small()) as three:
        bmcs = dict(zip(NODES, (one, two, three), strict=False))
        for bmc in bmcs.values():
            bmc.switched = partial(_off, bmc.tree)
        hosts = {name: {"fleet_bmc_url": bmc.url} for name, bmc in bmcs.items()}
        nodes = inventory(tmp_path / "inventory.yml", hosts)
        answer = Ansible(tmp_path / "home", variables)("ansible-playbook", "-i", nodes, tmp_path / "play.yml")
        sent = [name for name, bmc in bmcs.items() if bmc.tree[SYSTEM]["PowerState"] == "Off"]
    said = answer.stdout + answer.stderr
    assert sent == (["gpu-02", "gpu-03"] if there else ["gpu-01", "gpu-02", "gpu-03"]), said
    assert ("redfish_power: flash 1 of gpu-01 (BIOS) is intended" in said) is there
    assert (state / "fleet.db").exists() is there


def _off(tree: dict[str, dict[str, str]], action: str) -> int:
    tree[SYSTEM]["PowerState"] = "Off" if action == "ForceOff" else "On"
    return 204
