"""fleet-runner cabling paths --run in a lab with Ethernet rails: the real play, and pairs that really meet."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.cli.cabling import path_runs
from fleet_runner.core.cabling.fabrics import ETHERNET, fabrics
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.lab import faults
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.cli.checks.test_allreduce import WAY, come
from tests.commands import Said, entered
from tests.lab.bench import boot, shell

SERVERS = ("gpu-01", "gpu-02", "gpu-03", "gpu-04")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of four servers with Ethernet rails, all up and in onboard."""
    made = up(tmp_path_factory.mktemp("paths") / "lab", len(SERVERS), boot_seconds=0.0, rails=True)
    try:
        fleet = sitefiles.load(made.site)
        with Store.create(f"sqlite:///{made.root / 'state' / 'fleet.db'}") as store:
            rows = [fleet.devices[name] for name in SERVERS]
            store.register([*rows, *(each.record for each in fabrics(fleet))], time.time())
            for name in SERVERS:
                boot(made, name)
                come(store, name, *WAY[:2])
        yield made
    finally:
        down(made)


@pytest.fixture
def ethernet(lab: Lab) -> str:
    """The name of the Ethernet fabric."""
    return next(each.name for each in fabrics(sitefiles.load(lab.site)) if each.kind == ETHERNET)


@pytest.fixture
def run(lab: Lab, ethernet: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the tests of the rails, each for a second."""
    monkeypatch.chdir(lab.root)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLEET_CONFIG", str(lab.settings))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin:/usr/sbin:/sbin")
    monkeypatch.setattr(path_runs, "SECONDS", 1)

    def typed() -> Said:
        return entered(monkeypatch, capsys, "cabling", "paths", "--run", "--json", "--fabric", ethernet)

    return typed


def calls(lab: Lab) -> list[dict[str, Any]]:
    """Return the calls of perftest, oldest first."""
    lines = [json.loads(line) for line in lab.log.read_text().splitlines()]
    return [line for line in lines if line["event"] == "tool" and line["tool"] == "ib_write_bw"]


@pytest.mark.timeout(400)
def test_a_slow_leaf_is_found_by_two_pairs_that_share_no_node(lab: Lab, ethernet: str, run: Any) -> None:
    """The first pair is slow, and so is the second: it is no node's fault. Nothing is left behind."""
    faults.inject(lab, "slow_path", "gpu-01", {"rail": 1})
    try:
        said = run()
    finally:
        faults.fix(lab, "slow_path", "gpu-01")
    assert said.code == 1, said.err
    told = json.loads(said.out)[ethernet]
    (finding,) = told["result"]["findings"]
    assert finding["code"] == "paths.slow"
    assert finding["remedy"] == "WATCH"
    assert "156.8 Gb/s each way, expected 380 or more" in finding["message"]
    assert "node" not in finding["message"]
    assert [each["gbitps"] for each in told["result"]["observed"]["tests"]] == [156.8, 156.8]
    assert told["result"]["observed"]["covered"] == told["links"] == 8
    assert {call["node"] for call in calls(lab)} == set(SERVERS)
    for call in calls(lab):
        words = call["args"]
        assert words[words.index("-x") + 1] == "3", "the GID of RoCE v2 and IPv4"
        assert words[words.index("-q") + 1] == str(told["tests"][0]["flows"])
    with Store.create(f"sqlite:///{lab.root / 'state' / 'fleet.db'}") as store:
        kept = {each.result.check: each.result.verdict for each in store.latest_results(ethernet)}
        assert kept == {"fabric_paths": Verdict.FAIL}
        assert store.latest_results("gpu-01") == ()
    assert not list(lab.root.glob("nodes/*/tmp/ib_write_bw.*"))


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_healthy_paths_pass_and_a_leaf_that_lets_nothing_through_is_found(lab: Lab, run: Any, ethernet: str) -> None:
    said = run()
    assert said.code == 0, said.err
    faults.inject(lab, "slow_path", "gpu-03", {"rail": 0, "share": 0.0})
    try:
        said = run()
    finally:
        faults.fix(lab, "slow_path", "gpu-03")
    (finding,) = json.loads(said.out)[ethernet]["result"]["findings"]
    assert (said.code, finding["code"]) == (1, "paths.none")
    assert "Failed status 12" in finding["message"]


def test_the_stand_in_refuses_as_perftest_does(lab: Lab) -> None:
    """No such adapter, nobody who listens, and a leaf without power."""
    said = shell(lab, "gpu-01", "ib_write_bw -d mlx5_99 -p 18516 -D 1")
    assert (said.returncode, "IB device mlx5_99 not found" in said.stderr) == (1, True)
    said = shell(lab, "gpu-01", "ib_write_bw -d mlx5_9 -p 18516 -D 1 127.20.0.12")
    assert (said.returncode, "Couldn't connect to 127.20.0.12:18516" in said.stderr) == (1, True)
    faults.inject(lab, "dead_leaf", "gpu-01", {})
    try:
        said = shell(lab, "gpu-01", "ib_write_bw -d mlx5_9 -p 18516 -D 1")
    finally:
        faults.fix(lab, "dead_leaf", "gpu-01")
    assert (said.returncode, "Port number 1 state is Down" in said.stderr) == (1, True)
