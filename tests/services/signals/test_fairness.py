"""What one sender pushes costs no other its turn, also where it can never be judged or written."""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError, UnwritableError
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.services.signals.counters import Counts
from fleet_runner.services.signals.inbox import Delivery, Inbox, Outcome
from fleet_runner.services.signals.senders import Roll
from fleet_runner.services.signals.worker import Worker, WorkerContext
from tests.services.signals.hearing import fleet_of, listening, stocked, xid

NOW = 1_700_000_000.0
SENDERS = {"vector": "gpu-01", "evil": "gpu-02", "other": "gpu-03"}
RULES = Rules()


def judged(folder: Path, wrong: Callable[[Any], Exception | None], monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return the status that each of three senders of one batch gets, where some names of nodes are `wrong`."""
    keep, answers = Store.keep_alarms, dict[str, int]()

    def picky(self: Store, names: Any, *rest: Any) -> Any:
        if (error := wrong(names)) is not None:
            raise error
        return keep(self, names, *rest)

    monkeypatch.setattr(Store, "keep_alarms", picky)
    fleet, inbox, stop = fleet_of(*SENDERS.values()), Inbox(), Event()
    with stocked(folder, fleet) as store:
        roll = Roll(store, lambda: fleet)
        roll.refresh()
        for sender, node in SENDERS.items():

            def answer(outcome: Outcome, sender: str = sender) -> None:
                answers[sender] = outcome.status

            body = xid(node, at=NOW).encode()
            inbox.put(Delivery("log", sender, (body,), NOW, answer, Token(sender, sender, 1.0, "ann")))
        stop.set()
        Worker(WorkerContext(store, inbox, Counts(), roll, lambda: RULES, lambda: None, lambda: NOW)).run(stop)
        taken = {sender for sender, node in SENDERS.items() if store.alarms(node)}
    assert taken == {sender for sender, status in answers.items() if status == 200}
    return answers


@pytest.mark.parametrize(("error", "status"), [(UnwritableError("never"), 400), (ValueError("ours"), 500)])
def test_what_fails_for_its_own_sake_is_refused_alone(
    error: Exception, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others of its batch are in the store."""
    found = judged(tmp_path, lambda names: error if "gpu-02" in names else None, monkeypatch)
    assert found == {"vector": 200, "evil": status, "other": 200}


def test_while_the_store_fails_everybody_comes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is tried alone: that would only take longer."""
    asked: list[Any] = []

    def down(names: Any) -> Exception:
        asked.append(names)
        return StoreError("its disk is full")

    assert set(judged(tmp_path, down, monkeypatch).values()) == {503}
    assert len(asked) == 1


def test_half_a_character_is_a_signal_like_any(tmp_path: Path) -> None:
    """JSON may hold one, and no text can be written with it: it is known again, and taken back."""
    told = {"node": "gpu-01", "code": "x\ud800", "component": "fan\udfff 2", "message": "m\ud800"}
    with listening(tmp_path) as ear:
        for number in range(3):
            assert ear.push("", json.dumps(told | {"message": f"m{number}"})).json()["taken"] == 1
        assert [(each.code, each.component) for each in ear.store.alarms("gpu-01")] == [("x\ufffd", "fan\ufffd 2")]
        assert ear.push("", json.dumps(told | {"ended": True})).json()["taken"] == 1
        assert ear.store.alarms("gpu-01") == ()


def test_an_alert_whose_name_holds_anything_is_taken_back(tmp_path: Path) -> None:
    """What is stored and what is remembered have one name."""
    for name in ("n\x00ul", "half\ud800", "two\nlines"):
        alert = {"labels": {"alertname": name, "node": "gpu-01"}, "fingerprint": "f", "startsAt": "s"}
        with listening(tmp_path) as ear:
            for status, standing in (("firing", 1), ("firing", 1), ("resolved", 0)):
                post = json.dumps({"version": "4", "alerts": [{**alert, "status": status}]})
                assert ear.push("/alertmanager", post).status_code == 200
                assert len(ear.store.alarms("gpu-01")) == standing
