"""What the worker does when something fails: senders come again, nothing is told of what they pushed."""

import json
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from tests.services.signals.hearing import listening, xid
from tests.waiting import until


def test_signals_that_cannot_be_judged_are_counted_and_the_next_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A fault of ours: the log says where, and shows neither the token nor the line."""
    hear, failed = AlarmEngine.hear, [False]

    def fails_once(self: AlarmEngine, signals: Any, now: float) -> Any:
        if not failed[0]:
            failed[0] = True
            raise ValueError("pid=1234")
        return hear(self, signals, now)

    monkeypatch.setattr(AlarmEngine, "hear", fails_once)
    with listening(tmp_path) as ear:
        assert ear.push("/log", xid()).status_code == 500
        assert ear.push("/log", xid()).json()["taken"] == 1
        until(lambda: ear.heard("kernel", "refused: trouble here") == 1)
        said = "".join(capfd.readouterr())
        assert "ValueError at " in said
        assert ear.token not in said
        assert "pid=1234" not in said


def test_while_the_policy_cannot_be_used_senders_come_again(tmp_path: Path) -> None:
    """Once it is right, all is taken; one that becomes wrong later changes nothing."""
    policy = tmp_path / "policy.yml"
    policy.write_text("rules: nothing\n", "utf-8")
    with listening(tmp_path, policy_file=policy) as ear:
        answer = ear.push("/log", xid())
        assert (answer.status_code, bool(answer.headers["retry-after"])) == (503, True)
        policy.write_text("observe: true\n", "utf-8")
        until(lambda: ear.push("/log", xid()).status_code == 200)
        policy.write_text("rules: again nothing\n", "utf-8")
        assert ear.push("/log", xid(number=48)).status_code == 200
        assert len(ear.store.alarms("gpu-01")) == 2


def test_other_rules_change_what_stands(tmp_path: Path) -> None:
    """Within seconds, and without another signal."""
    policy = tmp_path / "policy.yml"
    policy.write_text("observe: true\n", "utf-8")
    with listening(tmp_path, policy_file=policy) as ear:
        assert ear.push("/log", xid(number=48)).status_code == 200
        assert [each.remedy for each in ear.alarms()] == ["RESET"]
        policy.write_text("rules:\n  - {code: xid.48, remedy: TRIAGE}\n", "utf-8")
        until(lambda: [each.remedy for each in ear.alarms()] == ["TRIAGE"])


def test_what_has_to_last_comes_to_count_with_time_alone(tmp_path: Path) -> None:
    """And clears when nothing more is heard of it."""
    policy = tmp_path / "policy.yml"
    policy.write_text("rules:\n  - {code: xid.48, hold: 1s, quiet: 2s}\n", "utf-8")
    with listening(tmp_path, policy_file=policy) as ear:
        assert ear.push("/log", xid(number=48)).status_code == 200
        assert ear.alarms() == ()
        until(lambda: len(ear.alarms()) == 1)
        until(lambda: ear.store.alarms("gpu-01") == ())
        (cleared,) = ear.store.past_alarms("gpu-01")
        assert "no more signals" in cleared.cleared_because


def test_what_was_counted_is_stored_when_it_ends(tmp_path: Path) -> None:
    """Counts are written now and then while it listens."""
    with listening(tmp_path) as ear:
        at = time.time()
        for second in range(3):
            assert ear.push("/log", xid(at=at - 60 + second * 20)).json()["taken"] == 1
    with Store.open(f"sqlite:///{tmp_path / 'fleet.db'}") as again:
        assert [each.count for each in again.alarms("gpu-01")] == [3]
        assert {each.what: each.count for each in again.heard()}["taken"] == 3


def test_an_alert_that_fires_on_over_a_remedy_is_no_recurrence(tmp_path: Path) -> None:
    """One that began after its node came back is."""

    def post(began: float) -> str:
        starts = datetime.fromtimestamp(began, UTC).isoformat()
        labels = {"alertname": "GpuEcc", "node": "gpu-01", "severity": "critical"}
        alert = {"status": "firing", "labels": labels, "fingerprint": "f", "startsAt": starts}
        return json.dumps({"version": "4", "alerts": [alert]})

    with listening(tmp_path) as ear:
        now = time.time()
        with sqlite3.connect(tmp_path / "fleet.db") as database:
            database.execute("UPDATE nodes SET since = ? WHERE name = 'gpu-01'", (now - 60,))
        assert ear.push("/alertmanager", post(now - 3600)).json()["taken"] == 0
        assert ear.store.alarms("gpu-01") == ()
        assert ear.push("/alertmanager", post(now - 30)).json()["taken"] == 1
        assert len(ear.store.alarms("gpu-01")) == 1
        until(lambda: ear.heard("alert", "late") == 1)


def test_a_node_whose_clock_is_behind_is_counted_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its signals are late after every return to service, and somebody has to set its clock."""
    monkeypatch.setattr("fleet_runner.core.faults.signals.lags.APART", 0.0)
    with listening(tmp_path) as ear:
        for number in (48, 94, 95, 119):
            assert ear.push("/log", xid(number=number, at=time.time() - 2400)).status_code == 200
            assert ear.push("/log", xid("gpu-02", number)).status_code == 200
        until(lambda: ear.heard("kernel", "clock behind") == 2)
        (told,) = [each.detail for each in ear.store.heard() if each.what == "clock behind"]
        assert told == "gpu-01 by 40 min; set its time (NTP)"


def test_a_slow_clock_is_not_put_right_as_a_late_shipper_looks_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may have been before a repair counts as that, and has no node repaired twice; sweeps see what is so."""
    monkeypatch.setattr("fleet_runner.core.faults.signals.lags.APART", 0.0)
    with listening(tmp_path) as ear:
        for number in (48, 94, 95):
            assert ear.push("/log", xid(number=number, at=time.time() - 600)).json()["taken"] == 1
        until(lambda: ear.heard("kernel", "clock behind") == 1)
        with sqlite3.connect(tmp_path / "fleet.db") as database:
            database.execute("UPDATE nodes SET since = ? WHERE name = 'gpu-01'", (time.time() - 60,))
        assert ear.push("/log", xid(number=119, at=time.time() - 600)).json()["taken"] == 0
        assert ear.push("/log", xid(number=120, at=time.time())).json()["taken"] == 1
        until(lambda: ear.heard("kernel", "late") == 1)
