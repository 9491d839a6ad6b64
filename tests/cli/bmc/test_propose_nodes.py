"""fleet-runner profile propose NODE: a file from what the store holds of good nodes, which these nodes then pass."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.files import catalogues
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.cli.conftest import Type
from tests.core.bmc.store_nodes import texts
from tests.core.checks.catalogue.judging import HEALTHY

GOOD = ("gpu-01", "gpu-02", "gpu-03")
GATHERING: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[3] / "docs/examples/group_vars/device_type_example_unlearned.yml").read_text()
)["fleet_profile"]
TEXT = "fleet_profile:\n  active:\n    nccl_allreduce: {bytes: 16G}\n"


def looked(store: Store, name: str, found: dict[str, str], at: float) -> None:
    """Have every passive check judge a node, with the profile that only gathers, and keep what it read."""
    readings = {read: Reading(read, ReadEnd.OK, text, at=at) for read, text in found.items()}
    lines: list[Evidence | Judged] = [
        Evidence(name, at, read, reading.hash, reading.text) for read, reading in readings.items()
    ]
    for check in CHECKS.values():
        if not check.active and not check.needs_fabric and check.name in HEALTHY:
            result = run(check, readings, Expected(name, GATHERING, run={"id": 1, "now": at}))
            lines.append(Judged(name, at, result))
    store.record_by_hand(Stage.VERIFY, "ada", lines, at)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The device type's file."""
    (tmp_path / "group_vars").mkdir()
    path = tmp_path / "group_vars" / "device_type_hgx.yml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def store(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with three nodes that were read, one that never was, and one of another type."""
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory.yml"))
    (tmp_path / "state").mkdir()
    now = time.time()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register([Device(name, "hgx", "gpu-server", "hall") for name in (*GOOD, "new")], 1.0)
        made.register([Device("dgx-01", "dgx", "gpu-server", "hall")], 1.0)
        for place, name in enumerate(GOOD):
            looked(made, name, texts(), now - 100)
            reached = Result("nccl_allreduce", Verdict.PASS, "x", observed={"bus_gbps": 475.0 + place})
            made.record_by_hand(Stage.BURN_IN, "ada", [Judged(name, now - 60, reached)] * 2, now)
        yield made


def test_nothing_is_condemned_while_a_new_type_only_gathers(store: Store) -> None:
    for name in GOOD:
        assert {each.result.verdict for each in store.latest_results(name)} <= {
            Verdict.PASS, Verdict.UNKNOWN, Verdict.SKIPPED,
        }  # fmt: skip


def test_the_proposal_is_valid_and_a_replay_over_its_nodes_fails_nothing(
    store: Store, typed: Type, file: Path, tmp_path: Path
) -> None:
    proposed = tmp_path / "device_type_hgx.yml"
    said = typed("profile", "propose", *GOOD, "--output", str(proposed))
    assert (said.code, said.out, said.err) == (Exit.OK, "", "")
    assert catalogues.check_file(proposed) == []
    wanted = yaml.safe_load(proposed.read_text())["fleet_profile"]
    assert wanted["parts"]["dimm"]["count"] == 2
    assert wanted["active"] == {"nccl_allreduce": {"bus_gbps_min": 461, "bytes": "16G"}}
    assert "median 476 (baseline)" in proposed.read_text()
    file.write_text(yaml.safe_dump({"fleet_profile": GATHERING}))
    change = tmp_path / "change.yml"
    change.write_text(yaml.safe_dump({"fleet_profile": wanted}))
    found = json.loads(typed("replay", "--with", str(change), "--json").out)
    assert "PASS" in {each["would_be"]["verdict"] for each in found["changes"]}
    assert [each for each in found["changes"] if each["would_be"]["verdict"] == "FAIL"] == []


def test_a_file_that_is_there_is_left_as_it_is(store: Store, typed: Type, file: Path, tmp_path: Path) -> None:
    said = typed("profile", "propose", *GOOD, "-o", str(file))
    assert said.code == Exit.USAGE
    assert "exists, and is left as it is" in said.err
    assert file.read_text() == TEXT
    assert "cannot be written" in typed("profile", "propose", *GOOD, "-o", str(tmp_path / "no" / "x.yml")).err


def test_a_node_that_lacks_a_module_is_named_in_all_forms(store: Store, typed: Type) -> None:
    short = {**texts(), "dmidecode": texts()["dmidecode"].replace("Size: 64 GB", "Size: No Module Installed", 1)}
    looked(store, "gpu-03", short, time.time())
    said = typed("profile", "propose", *GOOD)
    assert "odd: gpu-03: parts.dimm.count is 1, 2 on 2 others; look at it" in said.err
    assert "# ODD: gpu-03: parts.dimm.count is 1" in said.out
    told = json.loads(typed("profile", "propose", *GOOD, "--json").out)
    assert told["device_type"] == "hgx"
    assert told["odd"] == {"gpu-03": ["parts.dimm.count is 1, 2 on 2 others"]}
    differing = {each["key"]: each["nodes"] for each in told["differences"]}
    assert differing["parts.dimm.count"] == {"gpu-01": "2", "gpu-02": "2", "gpu-03": "1"}
    assert "count" not in told["profile"]["parts"]["dimm"]
    assert told["would_fail"] == {}


def test_a_node_that_would_fail_what_its_peers_are_like_is_not_called_good(store: Store, typed: Type) -> None:
    dying = {**texts(), "nvme_controllers": texts()["nvme_controllers"].replace('"live"', '"dead"', 1)}
    looked(store, "gpu-03", dying, time.time())
    said = typed("profile", "propose", *GOOD)
    assert "warning: gpu-03 would fail parts_nvme: the kernel no longer uses" in said.err


def test_nodes_that_cannot_make_one_profile_are_refused(store: Store, typed: Type) -> None:
    for words, why in (
        (("gpu-01", "dgx-01"), "dgx-01 is a dgx, gpu-01 is a hgx; name nodes of one type"),
        (("gpu-01", "gpu-99"), "gpu-99: no node of the store, unlike the others"),
        (("new",), "new: nothing that was read of it is in the store"),
    ):
        said = typed("profile", "propose", *words)
        assert said.code == Exit.USAGE
        assert why in said.err


def test_a_type_without_a_profile_begins_with_what_its_nodes_are(store: Store, typed: Type, file: Path) -> None:
    file.unlink()
    wanted = yaml.safe_load(typed("profile", "propose", "gpu-01").out)["fleet_profile"]
    assert wanted["parts"]["gpu"]["count"] == 2
    assert "active" not in wanted


def test_an_old_look_gives_way_to_the_newest(store: Store, typed: Type) -> None:
    slow = {**texts(), "lscpu": texts()["lscpu"].replace("8480C", "8462Y+")}
    looked(store, "gpu-01", slow, time.time())
    assert 'model: "Intel(R) Xeon(R) Platinum 8462Y+"' in typed("profile", "propose", "gpu-01").out
