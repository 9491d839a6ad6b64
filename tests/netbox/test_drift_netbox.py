"""fleet-runner drift against a NetBox: what it proposes is a table of NetBox's ids; taken over, nothing differs."""

import csv
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli import main
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Part, nodes
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin
from tests.secret import private

PARTS = (Part("SXM0", "gpu", "H100", "G0"), Part("A1", "dimm", "64G", "D1"), Part("B1", "dimm", "64G", "D2"))
FLEET = Fleet(
    sites=("hall",),
    racks={},
    device_types={"hgx": DeviceType("hgx", "Acme", "HGX", 8.0)},
    devices={"gpu-1": Device("gpu-1", "hgx", "gpu-server", "hall", serial="CH-1", parts=PARTS)},
    cables=(),
)
SEEN = (
    Result("parts_gpu", Verdict.PASS, "", observed={"serials": ["G9"], "gpus": 1}),
    Result("parts_dimm", Verdict.PASS, "", observed={"serials": {"A1": "D1", "B1": "D9"}, "dimms": 2}),
    Result("chassis_health", Verdict.PASS, "", observed={"serials": {"1": "CH-2"}}),
)


@pytest.fixture
def drift(standin: Standin, empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command on a NetBox and a store with one node, whose parts are others; return its exit code."""
    put(standin, FLEET)
    private(tmp_path / "token", TOKEN)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "fleet.db").write_bytes(empty_store.read_bytes())
    settings = {"SOURCE": standin.url, "NETBOX_TOKEN_FILE": tmp_path / "token", "STATE_DIR": tmp_path / "state"}
    for name, value in settings.items():
        monkeypatch.setenv(f"FLEET_{name}", str(value))
    monkeypatch.chdir(tmp_path)
    with Store.open(f"sqlite:///{tmp_path}/state/fleet.db") as store:
        store.register(nodes(FLEET), 1.0)
        at = time.time()
        store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [Judged("gpu-1", at, each) for each in SEEN], at)

    def run(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["fleet-runner", "drift", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return run


def test_tables_bring_a_netbox_to_what_was_observed(
    drift: Callable[..., int], standin: Standin, tmp_path: Path
) -> None:
    assert drift("--propose", str(tmp_path / "review")) == 1
    files = sorted((tmp_path / "review").iterdir())
    assert [file.name for file in files] == ["devices.csv", "inventory-items.csv", "modules.csv"]
    for file in files:
        with file.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            assert list(row) == ["id", "serial"]
            with standin.lock, standin.database.as_one(standin.user("planner")):
                standin.database.change(f"dcim/{file.stem}", int(row["id"]), {"serial": row["serial"]})
    assert drift() == 0


def test_what_netbox_has_twice_is_said_and_not_proposed(
    drift: Callable[..., int], standin: Standin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with standin.lock, standin.database.as_one(standin.user("planner")):
        [device] = standin.database.where("dcim/devices", name="gpu-1")
        [parent] = standin.database.where("dcim/inventory-items", name="A1")
        standin.database.create(
            "dcim/inventory-items", {"device": device["id"], "name": "B1", "parent": parent["id"], "serial": "X"}
        )
    assert drift("--propose", str(tmp_path / "review")) == 1
    assert "not proposed: gpu-1 B1: NetBox has no one place for it" in capsys.readouterr().err
    assert not (tmp_path / "review" / "inventory-items.csv").exists()
