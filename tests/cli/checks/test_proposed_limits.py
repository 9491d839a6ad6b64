"""fleet-runner baseline of limits: learned from looks, and what they would have flagged, judged from evidence."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import journal
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import Stage, State
from tests.cli.conftest import Type
from tests.core.checks.catalogue.judging import SMI

DAY = 86_400.0
PROFILE = {"limits": {"gpu_tlimit_margin_celsius": 5}, "parts": {"gpu": {"count": 2}}}
GOOD = tuple(f"gpu-{at:02}" for at in range(1, 6))
HOT = "gpu-09"
WORDS = ("baseline", "hgx", "--node", ",".join(GOOD), "--check", "gpu_thermals")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with looks at five good nodes, and at one that was warmer and went to triage after."""
    (tmp_path / "group_vars").mkdir()
    file = tmp_path / "group_vars" / "device_type_hgx.yml"
    file.write_text(yaml.safe_dump({"fleet_profile": PROFILE}))
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory.yml"))
    (tmp_path / "state").mkdir()
    now = time.time()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register([Device(name, "hgx", "gpu-server", "hall") for name in (*GOOD, HOT)], 1.0)
        for name in (*GOOD, HOT):
            for day in range(1, 6):
                text = warm(SMI) if name == HOT and day == 1 else SMI
                reading = Reading("nvidia_smi", ReadEnd.OK, text)
                result = run(CHECKS["gpu_thermals"], {"nvidia_smi": reading}, Expected(name, PROFILE))
                lines = [Evidence(name, now, "nvidia_smi", reading.hash, text), Judged(name, now - day * DAY, result)]
                made.record_by_hand(Stage.HEALTH_PASSIVE, "ada", lines, now)
        row = {"node": HOT, "at": now - 60, "kind": "transition", "sentence": "x", "by": "runner", "results": []}
        with made._database.write() as connection:
            ends = {"state": State.PRODUCTION.value, "event": "triage_needed", "to": State.TRIAGE.value, "run": None}
            connection.execute(insert(journal), [{**row, **ends}])
        yield made


def warm(text: str) -> str:
    """Return what nvidia-smi says of GPUs that are closer to their limit, but not beyond that of today."""
    hot = re.sub(r"<gpu_temp_tlimit>\d+ C<", "<gpu_temp_tlimit>10 C<", text)
    assert hot != text
    return hot


def test_a_limit_is_proposed_and_says_whom_it_would_have_flagged(store: Store, typed: Type, tmp_path: Path) -> None:
    said = typed(*WORDS, "--replay")
    assert said.code == 0, said.err
    assert "gpu_tlimit_margin_celsius" in said.out
    assert said.out.startswith("--- a/")
    assert (
        "30 of 30 results of the last 30d could be judged again: 1 node would also have been flagged, 1 of which"
        in (" ".join(said.err.split()))
    )
    assert f"{HOT} gpu_thermals would have flagged it once" in said.err
    assert "; it turned out bad on 20" in said.err
    file = tmp_path / "group_vars" / "device_type_hgx.yml"
    assert yaml.safe_load(file.read_text())["fleet_profile"] == PROFILE, "nothing is changed by the command itself"


def test_it_is_all_there_as_json(store: Store, typed: Type) -> None:
    told = json.loads(typed(*WORDS, "--replay", "--json").out)
    (mark,) = told["marks"]
    assert (mark["key"], mark["now"], mark["nodes"], mark["numbers"]) == (
        "limits.gpu_tlimit_margin_celsius", 5, 5, 25,
    )  # fmt: skip
    assert mark["mark"] > 10
    assert (told["replay"]["reproduced"], told["replay"]["seen"]) == (30, 30)
    (hit,) = told["replay"]["nodes"]
    assert (hit["node"], hit["flagged"], hit["times"], hit["bad_at"] is not None) == (HOT, True, 1, True)
    assert "replay" not in json.loads(typed(*WORDS, "--json").out)


def test_a_laxer_limit_says_what_would_have_passed(store: Store, typed: Type, tmp_path: Path) -> None:
    """Today's limit refuses what good nodes are."""
    strict = {**PROFILE, "limits": {"gpu_tlimit_margin_celsius": 99}}
    (tmp_path / "group_vars" / "device_type_hgx.yml").write_text(yaml.safe_dump({"fleet_profile": strict}))
    now = time.time()
    reading = Reading("nvidia_smi", ReadEnd.OK, SMI)
    result = run(CHECKS["gpu_thermals"], {"nvidia_smi": reading}, Expected("gpu-01", strict))
    store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [Judged("gpu-01", now - 30, result)], now)
    said = typed(*WORDS, "--replay")
    assert "1 of 31 results of the last 30d could be judged again: 0 nodes would also have been flagged" in said.err
    assert "gpu-01 gpu_thermals would not have flagged it once, first 20" in said.err
