"""What a node told about its tests is told on, whatever becomes of the call that ends the others."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from fleet_runner.core.checks import active
from fleet_runner.core.checks.check import Order

ENDED = {"state": "ended", "rc": 0, "elapsed": 10.0, "seconds": 10.0, "output": "wrong", "reason": ""}
RUNNING = {"state": "running", "elapsed": 1.0, "seconds": 10.0, "output": "", "reason": ""}
STOPPED = {"state": "preempted", "elapsed": 2.0, "seconds": 10.0, "output": "", "reason": "what gemm found"}
ORDER = Order(("true",), 10.0)


@pytest.fixture
def visit(plugin: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Look at a chain whose first test found a fault; the call that ends the rest gets an answer, or an error."""
    module = plugin("action/fleet_active")
    monkeypatch.setattr(ActionBase, "run", lambda *_: {})
    monkeypatch.setattr(active, "plan", lambda *_: active.Plan({"gemm": ORDER, "training": ORDER}, {}))
    monkeypatch.setattr(active, "faulty", lambda *_: "gemm")

    def look(second: tuple[bool, dict[str, Any], str] | Exception) -> dict[str, Any]:
        def called(
            _self: object, _made: object, *, stop: str = "", look: bool = False
        ) -> tuple[bool, dict[str, Any], str]:
            if not stop:
                assert look
                return False, {"gemm": ENDED, "training": RUNNING}, ""
            assert stop == "what gemm found"
            if isinstance(second, Exception):
                raise second
            return second

        monkeypatch.setattr(module.ActionModule, "_names", lambda _: ["gemm", "training"])
        monkeypatch.setattr(module.ActionModule, "_expected", lambda _: None)
        monkeypatch.setattr(module.ActionModule, "_module", called)
        action = object.__new__(module.ActionModule)
        action._task = SimpleNamespace(args={})
        readings: dict[str, Any] = action.run()["readings"]
        return readings

    return look


@pytest.mark.parametrize(
    "second",
    [
        AnsibleConnectionFailure("the node is gone"),
        (False, {}, "the chain does not end within 15 s"),
        (False, {"gemm": STOPPED, "training": None}, ""),
    ],
    ids=["gone", "trouble", "odd"],
)
def test_a_fault_is_told_although_the_rest_cannot_be_ended(
    visit: Callable[..., dict[str, Any]], second: tuple[bool, dict[str, Any], str] | Exception
) -> None:
    """The node is faulty: that it goes away at this moment is likely."""
    assert visit(second)["gemm_job"] == ENDED


def test_tests_that_were_ended_are_told_as_ended(visit: Callable[..., dict[str, Any]]) -> None:
    second = (True, {"gemm": {"state": "lost"}, "training": STOPPED}, "")
    assert visit(second) == {"gemm_job": ENDED, "training_job": STOPPED}


def test_tests_that_could_not_be_ended_run(visit: Callable[..., dict[str, Any]]) -> None:
    assert visit((False, {}, "no room"))["training_job"] == RUNNING


ASKED = [{"stop": "", "check": True}, {"stop": "", "check": False}]
ENDING = [{"stop": "", "check": True}, {"stop": "what gemm found", "check": True}]


@pytest.fixture
def asked(
    plugin: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Visit a node that answers the look with `seen`, then with `then`; return how it was asked, and what it told."""
    module = plugin("action/fleet_active")
    monkeypatch.setattr(ActionBase, "run", lambda *_: {})
    monkeypatch.setattr(active, "plan", lambda *_: active.Plan({"gemm": ORDER, "training": ORDER}, {}))
    monkeypatch.setattr(module.ActionModule, "_names", lambda _: ["gemm", "training"])
    monkeypatch.setattr(module.ActionModule, "_expected", lambda _: None)

    def visited(
        seen: dict[str, Any],
        then: dict[str, Any],
        *,
        changed: bool,
        fault: str = "",
        check: bool = False,
        stop: str = "",
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        monkeypatch.setattr(active, "faulty", lambda *_: fault)
        calls: list[dict[str, Any]] = []

        def executed(self: Any, module_args: dict[str, Any], **_: object) -> dict[str, Any]:
            calls.append({"stop": module_args["stop"], "check": self._task.check_mode})
            return {"changed": changed, "jobs": seen if len(calls) == 1 else then}

        monkeypatch.setattr(module.ActionModule, "_execute_module", executed)
        action = object.__new__(module.ActionModule)
        action._task = SimpleNamespace(args={"key": "burn_in-1", "stop": stop}, check_mode=check)
        answer: dict[str, Any] = action.run()
        assert action._task.check_mode is check
        return calls, answer

    return visited


GAVE_WAY = {"state": "waiting", "elapsed": 0.0, "seconds": 10.0, "output": "", "reason": "it would be started"}


@pytest.mark.parametrize(
    ("changed", "training", "calls"),
    [(True, GAVE_WAY, ASKED), (False, RUNNING, ASKED[:1]), (False, {"state": "lost"}, ASKED)],
    ids=["not begun", "runs", "what a killed supervisor left"],
)
def test_a_node_is_looked_at_before_anything_is_begun(
    asked: Callable[..., tuple[list[dict[str, Any]], dict[str, Any]]],
    changed: bool,
    training: dict[str, Any],
    calls: list[dict[str, Any]],
) -> None:
    """Once more it is asked only where there is something to begin, or to end; that answer counts."""
    then = {"gemm": ENDED, "training": RUNNING}
    how, answer = asked({"gemm": ENDED, "training": training}, then, changed=changed)
    assert (how, answer["changed"]) == (calls, changed)
    assert answer["readings"] == {"gemm_job": ENDED, "training_job": RUNNING}


def test_what_gave_way_is_not_begun_again_after_a_fault(
    asked: Callable[..., tuple[list[dict[str, Any]], dict[str, Any]]],
) -> None:
    """The faulty node is not loaded for another moment."""
    seen = {"gemm": ENDED, "training": GAVE_WAY}
    how, answer = asked(seen, {"gemm": ENDED, "training": STOPPED}, changed=True, fault="gemm")
    assert how == [ASKED[0], {"stop": "what gemm found", "check": False}]
    assert answer["readings"]["training_job"] == STOPPED
    how, _ = asked(seen, seen, changed=True, fault="gemm", check=True)
    assert how == ENDING


def test_tests_that_are_to_end_are_ended_without_a_look_and_nothing_is_begun(
    asked: Callable[..., tuple[list[dict[str, Any]], dict[str, Any]]],
) -> None:
    """Whoever began them was interrupted."""
    calls, answer = asked({"gemm": STOPPED, "training": STOPPED}, {}, changed=True, stop="Ctrl-C")
    assert calls == [{"stop": "Ctrl-C", "check": False}]
    assert (answer["changed"], answer["readings"]["gemm_job"]["state"]) == (True, "preempted")
