"""What a node told about its tests is told on, whatever becomes of the call that ends the others."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from fleet_runner.core import active
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
        def called(_self: object, _made: object, stop: str = "") -> tuple[bool, dict[str, Any], str]:
            if not stop:
                return False, {"gemm": ENDED, "training": RUNNING}, ""
            assert stop == "what gemm found"
            if isinstance(second, Exception):
                raise second
            return second

        monkeypatch.setattr(module.ActionModule, "_names", lambda _: ["gemm", "training"])
        monkeypatch.setattr(module.ActionModule, "_expected", lambda _: None)
        monkeypatch.setattr(module.ActionModule, "_module", called)
        action = object.__new__(module.ActionModule)
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
