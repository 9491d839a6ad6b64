"""fleet-runner drift: both values and how old what was seen is; files for review, and nothing applied."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import load
from tests.cli.conftest import Type
from tests.playing import PROJECT

NODE = "gpu-01"
SERIALS = ["1650000000100", "NEW\x1b[31m1\ngpu-02 part: all is well"]
MOVED = Finding("cabling.moved", "gpu-01 ib0", "gpu-01 ib0 leads elsewhere", Remedy.RECABLE, "cabling/a")


def result(check: str, *findings: Finding, **observed: object) -> Result:
    return Result(check, Verdict.FAIL if findings else Verdict.PASS, "", findings, observed)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with the example site's nodes."""
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))
    shutil.copytree(PROJECT / "docs/examples/site", tmp_path / "site")
    monkeypatch.setenv("FLEET_SOURCE", str(tmp_path / "site"))
    profile = {"fleet_profile": {"hca_interfaces": {"mlx5_0": "ib0"}}}
    (tmp_path / "group_vars").mkdir()
    for name in {device.device_type for device in nodes(read(load()))}:
        (tmp_path / "group_vars" / f"device_type_{name.replace('-', '_')}.yml").write_text(yaml.safe_dump(profile))
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory.yml"))
    with Store.create(load().store_url) as made:
        made.register(nodes(read(load())), 1.0)
        yield made


def see(store: Store, *results: Result) -> None:
    at = time.time() - 7 * 60
    store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [Judged(NODE, at, each) for each in results], at)


@pytest.mark.usefixtures("store")
def test_where_nothing_was_seen_nothing_differs(typed: Type, tmp_path: Path) -> None:
    said = typed("drift", "--propose", str(tmp_path / "review"))
    assert (said.code, said.words) == (0, "no observation differs")
    assert "nothing to propose" in said.err
    assert not (tmp_path / "review").exists()


def test_each_difference_is_a_line_with_both_values_and_its_age(store: Store, typed: Type) -> None:
    """A value comes from a node: it moves no terminal."""
    see(store, result("parts_gpu", serials=SERIALS, gpus=2), result("cabling_infiniband", MOVED))
    said = typed("drift")
    assert said.code == 1, said.err
    assert "gpu-01 part: GPU 1: the source of truth says 1650000000101, observed NEW" in said.words
    assert "(parts_gpu, 7 min ago)" in said.words
    assert "gpu-01 link: gpu-01 ib0 leads elsewhere (cabling_infiniband, 7 min ago)" in said.words
    assert "\x1b[31m" not in said.out
    assert "\ngpu-02" not in said.out
    assert said.words.endswith("2 differences")
    assert typed("drift", "gpu-02").code == 0
    assert typed("drift", "gpu-99").code == 2


def test_proposed_is_what_is_certain_and_once_taken_over_it_is_no_difference(
    store: Store, typed: Type, tmp_path: Path
) -> None:
    see(
        store,
        result("parts_gpu", serials=["1650000000100", "NEW1"], gpus=2),
        result("parts_hca", guids={"mlx5_0": "a" * 16}),
    )
    said = typed("drift", "--json", "--propose", str(tmp_path / "review"))
    assert [each["proposed"] for each in json.loads(said.out)["differences"]] == ["NEW1", "a" * 16]
    assert "site-files.diff: written for review" in " ".join(said.err.split())
    diff = (tmp_path / "review" / "site-files.diff").read_text()
    subprocess.run(["patch", "-p1", "-s"], cwd=tmp_path / "site", input=diff, text=True, check=True, timeout=30)
    assert typed("drift").words == "no observation differs"
    again = typed("drift", "--propose", str(tmp_path / "review"))
    assert again.code == 0


def test_a_device_type_without_a_profile_costs_its_guids_only(store: Store, typed: Type, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "group_vars")
    see(store, result("parts_hca", guids={"mlx5_0": "a" * 16}), result("parts_gpu", serials=["A", "B"], gpus=2))
    said = typed("drift", "--propose", str(tmp_path / "review"))
    assert "GUIDs of" in said.err
    assert "are not compared" in said.err
    assert said.words.endswith("2 differences")
    assert "no difference has a certain value" in said.err
