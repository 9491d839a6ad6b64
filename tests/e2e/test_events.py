"""A fault that a BMC tells of by itself, from the subscription to the node's history: the whole product on a lab."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.lab import faults, ports
from fleet_runner.lab.down import down
from fleet_runner.lab.up import up
from tests.e2e.conftest import Fleet
from tests.services.boot.sites import certificate

SECONDS = 60.0


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A lab of two servers whose BMCs find a listener over TLS, which is started by the test."""
    place = f"127.0.0.1:{ports.choose(1)[0]}"
    cert = certificate(tmp_path, "signals")
    told = {"LISTEN": place, "URL": f"https://{place}", "CERTIFICATE": str(cert), "VERIFY": "false",
            "CERTIFICATE_KEY": str(cert.with_suffix(".key"))}  # fmt: skip
    for name, value in told.items():
        monkeypatch.setenv(f"FLEET_SIGNALS_{name}", value)
    made = Fleet(up(tmp_path / "lab", 2, boot_seconds=0.0))
    try:
        yield made
    finally:
        for process in made.serving:
            process.terminate()
            process.wait(30)
        down(made.lab)


def wait(true: Callable[[], object]) -> None:
    """Wait for something that comes."""
    until = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.1)


def alarms(store: Store, node: str) -> list[str]:
    """The alarms that stand."""
    return [f"{each.code} of {each.component}" for each in store.alarms(node)]


@pytest.mark.nightly
@pytest.mark.timeout(180)
def test_a_supply_that_breaks_is_in_the_nodes_history_and_clears_when_it_is_healed(fleet: Fleet) -> None:
    """No sweep looks meanwhile: what is known of it came from the BMC."""
    fleet.store().close()
    assert fleet.run("tick").returncode == 0
    command = [sys.executable, "-m", "fleet_runner.cli", "signals", "serve"]
    with (fleet.lab.root / "listener.log").open("ab") as log:
        fleet.serving.append(subprocess.Popen(command, env=fleet.environment(), stdout=log, stderr=log))
    said = fleet.run("signals", "subscribe", "--all", "--json")
    assert {each["outcome"] for each in json.loads(said.stdout)} == {"subscribed"}, said
    time.sleep(1.0)  # until the BMCs have looked at what is well
    with fleet.store() as store:
        faults.inject(fleet.lab, "dead_psu", "gpu-01", {"psu": 3})
        faults.inject(fleet.lab, "hot_gpu", "gpu-02", {"gpu": 5})
        wait(lambda: alarms(store, "gpu-01") == ["redfish.Power.PowerSupplyFailed of 3"])
        wait(lambda: alarms(store, "gpu-02") == [
            "redfish.Environmental.TemperatureAboveUpperCriticalThreshold of GPU_5_Temp"
        ])  # fmt: skip
        assert "redfish.Power.PowerSupplyFailed of 3" in fleet.run("signals", "list").stdout
        faults.fix(fleet.lab, "dead_psu", "gpu-01")
        faults.fix(fleet.lab, "hot_gpu", "gpu-02")
        wait(lambda: not alarms(store, "gpu-01") and not alarms(store, "gpu-02"))
        told = [each.sentence for each in store.history("gpu-01") if each.kind == "alarm"]
        assert any("PowerSupplyFailed" in each for each in told), told
        assert any("its sender ended it" in each for each in told), told
