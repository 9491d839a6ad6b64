"""Simulations as a person types them."""

import json
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.simulation.history import Fault, PastRemedy, Use
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.actions import BeginAttempt, Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import load
from tests.cli.conftest import Type

KEY = "gpu-01/gpu.lost/GPU 3"
LOST = Finding("gpu.lost", "GPU 3", "GPU 3 is gone.", Remedy.REBOOT, KEY, ("gpu-01",))
HISTORY = (
    '{"kind":"node","node":"gpu-01","device_type":"t","rack":"hall/A"}\n'
    f'{{"kind":"fault","node":"gpu-01","code":"gpu.lost","component":"GPU 3","fault":"{KEY}","message":"gone",'
    '"remedy":"REBOOT","begins":1000,"ends":9000,"check":"gpu_present"}\n'
)


@pytest.fixture
def files(tmp_path: Path, typed: Type) -> Path:
    """A history, and a policy that only records."""
    del typed  # it sets the folder
    (tmp_path / "h.jsonl").write_text(HISTORY, "utf-8")
    (tmp_path / "new.yml").write_text("rules:\n- {code: gpu.lost, remedy: RECORD}\n", "utf-8")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_a_history_is_replayed_against_two_policies(typed: Type) -> None:
    """Every figure is called simulated; the first decision that differs is told, and what cannot be known."""
    shown = typed("simulate", "--history", "h.jsonl", "--policy", "new.yml")
    assert shown.code == 0
    assert "SIMULATED" in shown.out
    assert "in force: 1970-01-01 00:16:40 REBOOT pending: gone" in shown.words
    assert "new: nothing more" in shown.words
    assert "cannot be known" in shown.words
    told = json.loads(typed("simulate", "--history", "h.jsonl", "--policy", "new.yml", "--json").out)
    assert told["simulated"] is True
    assert {"name": "REBOOT", "old": 1, "new": 0} in told["figures"]
    assert told["nodes"]["gpu-01"]
    (Path("same.yml")).write_text("observe: false\n", "utf-8")
    assert (
        "no decision about any node differs"
        in typed("simulate", "--history", "h.jsonl", "--policy", "same.yml").words
    )


@pytest.mark.usefixtures("files")
def test_without_another_policy_it_says_what_the_one_in_force_would_have_done(typed: Type) -> None:
    shown = typed("simulate", "--history", "h.jsonl")
    assert shown.code == 0
    assert "IN FORCE" in shown.out
    assert "NEW" not in shown.out
    assert "REBOOT 1" in shown.words
    assert "differs" not in shown.words
    assert "cannot be known" in shown.words


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--policy", "new.yml"], "name one of --history FILE and --since 30d"),
        (["--history", "none.jsonl", "--policy", "new.yml"], "none.jsonl: No such file"),
        (["--history", "new.yml", "--policy", "new.yml"], "new.yml:1: found no JSON object"),
        (["--history", "h.jsonl", "--policy", "h.jsonl"], "correct it: fleet-runner policy check"),
        (
            ["--history", "h.jsonl", "--policy", "none.yml"],
            "none.yml:1: this cannot be read: No such file or directory",
        ),
        (["--history", "h.jsonl", "--save", "new.yml"], "--save expects a file that is not there yet"),
    ],
)
def test_what_cannot_be_replayed_is_told(typed: Type, words: list[str], told: str) -> None:
    """With the next step."""
    refused = typed("simulate", *words)
    assert refused.code == 2
    assert told in " ".join(refused.err.split())


def test_the_store_remembers_what_a_simulation_replays(
    typed: Type, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault from its first sight to the pass after it, the use of its node, and what was tried."""
    site = project / "docs" / "examples" / "site"
    monkeypatch.setenv("FLEET_SOURCE", str(site))
    with Store.create(load().store_url) as store:
        store.register(nodes(sitefiles.load(site)), 1.0)
        for at, results in enumerate(
            [
                (_seen(), _used(in_use=True)),
                (_seen(), _used(in_use=True)),
                (_well(), _used(in_use=False)),
                (_seen(),),
            ],
            1,
        ):
            node = store.node("gpu-01")
            assert node is not None
            begun = (BeginAttempt(Remedy.REBOOT, (KEY,), "runner"),) if at == 2 else ()
            opened = (OpenRun(Stage.HEALTH_PASSIVE, "w", batch=f"b{at}"),)
            (run,) = store.apply(node, Decision((*opened, *begun), "", 0.0), at * 100.0)
            judged = [Judged("gpu-01", at * 100.0, result) for result in results]
            store.ingest(f"b{at}", 0, 9, [*judged, Ended("gpu-01", at * 100.0, PlayEnd.OK)])
            store.close_run(run, Outcome.PASSED, "", at * 100.0 + 1)
        other = store.node("gpu-02")
        assert other is not None
        (run,) = store.apply(other, Decision((OpenRun(Stage.BURN_IN, "w", batch="b9"),), "", 0.0), 150.0)
        store.ingest("b9", 0, 9, [Judged("gpu-02", 150.0, _seen()), Ended("gpu-02", 150.0, PlayEnd.OK)])
        store.close_run(run, Outcome.FAILED, "", 151.0)  # it never served with that fault
        assert store.past(0.0) == [
            Fault("gpu-01", "gpu.lost", "GPU 3", KEY, "GPU 3 is gone.", "REBOOT", 100.0, 300.0, "gpu_present"),
            Fault("gpu-01", "gpu.lost", "GPU 3", KEY, "GPU 3 is gone.", "REBOOT", 400.0, 0.0, "gpu_present"),
            Use("gpu-01", 100.0, 300.0),
            PastRemedy("gpu-01", "REBOOT", (KEY,), 200.0, None),
        ]
    assert typed("simulate", "--since", "40000d", "--save", "kept.jsonl").code == 0
    assert len((tmp_path / "kept.jsonl").read_text("utf-8").splitlines()) == 6
    engine = create_engine(load().store_url)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM attempts"))
    engine.dispose()
    (tmp_path / "new.yml").write_text("observe: true\n", "utf-8")
    assert "advised only" in typed("simulate", "--history", "kept.jsonl", "--policy", "new.yml").words


def _seen() -> Result:
    return Result("gpu_present", Verdict.FAIL, "7 of 8", (LOST,))


def _well() -> Result:
    return Result("gpu_present", Verdict.PASS, "8 of 8")


def _used(*, in_use: bool) -> Result:
    return Result("gpu_usage", Verdict.PASS, "as seen", observed={"in_use": in_use})
