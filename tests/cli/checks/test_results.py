"""fleet-runner results and replay: what was answered, and what another limit would have answered."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.store import ResultFilter, Store
from fleet_runner.cli.base.session import span
from fleet_runner.cli.checks import results
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import Run
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.cli.conftest import Type
from tests.core.checks.catalogue.judging import SMI

PROFILE = {"limits": {"gpu_tlimit_margin_celsius": 5}, "parts": {"gpu": {"count": 2}}}
UNREAD = Result("xid", Verdict.UNKNOWN, "dmesg: after 20 s [red]\x1b[31m")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with two answers of each of two nodes, and the profile of their device type."""
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "device_type_hgx.yml").write_text(yaml.safe_dump({"fleet_profile": PROFILE}))
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory.yml"))
    (tmp_path / "state").mkdir()
    now = time.time()
    reading = Reading("nvidia_smi", ReadEnd.OK, SMI)
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        nodes = ("gpu-01", "gpu-02")
        made.register([Device(name, "hgx", "gpu-server", "hall") for name in (*nodes, "gpu-03")], 1.0)
        for node in nodes:
            result = run(CHECKS["gpu_thermals"], {"nvidia_smi": reading}, Expected(node, PROFILE))
            lines = [Evidence(node, now, "nvidia_smi", reading.hash, SMI), Judged(node, now - 60, result)]
            made.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [*lines, Judged(node, now - 50, UNREAD)], now)
        yield made


def limits(tmp_path: Path, text: str) -> str:
    path = tmp_path / "limits.yml"
    path.write_text(text)
    return str(path)


def test_results_are_listed_newest_first_and_no_tools_words_move_the_terminal(store: Store, typed: Type) -> None:
    said = typed("results")
    assert said.code == 0
    assert said.words.count("PASS gpu-0") == 2
    assert "UNKNOWN gpu-02 xid: dmesg: after 20 s [red]" in said.words
    assert "\x1b" not in said.out
    assert said.words.endswith("4 results of the last 30d")
    assert "the newest 1 of the last 30d" in typed("results", "--limit", "1").words
    assert typed("results", "--node", "gpu-01", "--check", "xid").words.endswith(" 1 result of the last 30d")


def test_results_are_narrowed_and_given_in_full(store: Store, typed: Type) -> None:
    words = ("--node", "gpu-01", "--check", "xid", "--verdict", "unknown", "--since", "2h")
    (found,) = json.loads(typed("results", *words, "--json").out)
    assert (found["node"], found["result"]["check"], found["stage"]) == ("gpu-01", "xid", "health_passive")
    assert "no such results in the last 1s" in typed("results", "--since", "1s").out
    assert "no such results" in typed("results", "-n", "gpu-03").out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--node", "gpu-09"), "no node 'gpu-09' in the store; similar names: gpu-0"),
        (("--node", "spine"), "no node 'spine' in the store; fleet-runner status lists all nodes"),
        (("--check", "gpu_eror"), "did you mean gpu_errors"),
        (("--since", "soon"), "'soon' is not a span of time; expected one such as 90m, 12h, 30d or 4w"),
    ],
)
def test_what_cannot_be_asked_for_is_said(store: Store, typed: Type, words: tuple[str, ...], why: str) -> None:
    said = typed("results", *words)
    assert (said.code, why in said.err) == (2, True), said.err


def test_a_span_is_read_as_people_write_it() -> None:
    assert [span(text) for text in ("90s", "1.5 h", "30d", "2w", " 5min ")] == [90, 5400, 2_592_000, 1_209_600, 300]
    with pytest.raises(FleetError):
        span("-1d")


def test_a_limit_is_tried_on_what_was_read_and_what_cannot_be_is_counted(
    store: Store, typed: Type, tmp_path: Path
) -> None:
    file = limits(tmp_path, "limits: {gpu_tlimit_margin_celsius: 99}")
    said = typed("replay", "--with", file)
    assert said.code == 0, said.err
    assert said.words.startswith("gpu-01 gpu_thermals: PASS → FAIL, once, at 20")
    assert (
        "4 results of the last 30d: 2 were reproduced with the profile of today; of those 2 would differ"
        in said.words
    )
    assert (
        "2 were not, and are left out: 2: it was UNKNOWN because of a read, and how that failed is not kept xid 2"
        in said.words
    )
    assert "without designed cables, serial numbers" in said.err
    told = json.loads(typed("replay", "--with", file, "--node", "gpu-02", "--json").out)
    assert (told["reproduced"], told["left_out"]) == (1, {"unread": {"xid": 1}})
    assert [(each["node"], each["would_be"]["verdict"]) for each in told["changes"]] == [("gpu-02", "FAIL")]
    assert "The newest 1 results of the last 30d, back to 20" in typed("replay", "--with", file, "--limit", "1").words
    assert len(store.find_results(ResultFilter(), limit=9)) == 4


def test_a_result_is_judged_with_the_stay_that_its_run_was_told_of() -> None:
    """A node's move after the run is another stay; by hand a play is told of none."""
    ours = Run(1, "gpu-01", Stage.BURN_IN, 3, "b", 100.0)
    assert results._stay(ours, (50.0, 90.0, 110.0)) == {"opened_at": 100.0, "since": 90.0}
    assert results._stay(ours, (110.0,)) == {"opened_at": 100.0}
    assert results._stay(replace(ours, fence=0), (50.0,)) == {"opened_at": 100.0}
    assert results._stay(None, (50.0,)) == {}


def test_a_change_for_one_device_type_leaves_the_others(store: Store, typed: Type, tmp_path: Path) -> None:
    """And a node whose device type has no profile is counted."""
    store.register([Device("dgx-01", "dgx", "gpu-server", "hall")], 1.0)
    store.record_by_hand(Stage.CHECK, "ada", [Judged("dgx-01", time.time(), UNREAD)], time.time())
    said = typed("replay", "--with", limits(tmp_path, "hgx: {limits: {gpu_tlimit_margin_celsius: 6}}"))
    assert (
        "5 results of the last 30d: 2 were reproduced with the profile of today; of those 0 would differ"
        in said.words
    )
    assert "1: its device type has no profile now xid 1" in said.words
    assert "device_type_dgx.yml: found no fleet_profile" in said.err


def test_a_node_is_held_against_its_own_profile_as_ansible_chooses_it(
    store: Store, typed: Type, tmp_path: Path
) -> None:
    """A file of its group comes before that of its device type by name; its own comes last and wins."""
    own = {"fleet_profile": {"limits": {"gpu_tlimit_margin_celsius": 99}, "parts": {"gpu": {"count": 2}}}}
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars" / "gpu-02.yml").write_text(yaml.safe_dump(own))
    (tmp_path / "group_vars" / "all.yml").write_text(yaml.safe_dump({"fleet_profile": {"limits": {}}}))
    said = typed("replay", "--with", limits(tmp_path, "limits: {gpu_tlimit_margin_celsius: 98}"))
    assert said.code == 0, said.err
    assert "1 were reproduced with the profile of today; of those 1 would differ" in said.words
    assert said.words.startswith("gpu-01 gpu_thermals: PASS → FAIL"), "the other one passed with another profile"
    assert "1: with the profile of today it is not judged as it was then gpu_thermals 1" in said.words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("limtis: {}", "limits.yml: limtis is in no profile (hgx)"),
        ("{}", "limits.yml: it holds nothing; expected a part of fleet_profile"),
        ("[", "limits.yml: it is not YAML"),
        ("hgx: 1", "limits.yml: hgx: found 1, expected a mapping"),
    ],
)
def test_a_slip_in_the_file_is_unusable_input(store: Store, typed: Type, tmp_path: Path, text: str, why: str) -> None:
    said = typed("replay", "--with", limits(tmp_path, text))
    assert (said.code, why in said.err) == (2, True), said.err


def test_a_key_that_no_profile_has_is_used_and_pointed_out(store: Store, typed: Type, tmp_path: Path) -> None:
    said = typed("replay", "--with", limits(tmp_path, "limits: {gpu_tlimit_margin_celcius: 99}"))
    assert said.code == 0
    assert "limits.gpu_tlimit_margin_celcius is not in the profile of hgx: it is new, or a typing error" in said.err


def test_a_file_that_is_not_there_is_unusable_input(store: Store, typed: Type) -> None:
    assert typed("replay", "--with", "nothing.yml").code == 2
