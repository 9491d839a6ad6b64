"""Whose a task's failure is, as the runner is told of it."""

import pytest

from fleet_runner.adapters.plays.task_failure import OWN, failure, is_own
from fleet_runner.core.base.errors import (
    BmcError,
    BmcRefused,
    ConflictError,
    EvidenceError,
    FleetError,
    SchedulerError,
    SettingsError,
    SourceError,
    StoreError,
)


@pytest.mark.parametrize("error", [BmcError("no answer"), BmcRefused("400"), EvidenceError("torn")])
def test_what_a_bmc_or_a_node_says_is_theirs(error: FleetError) -> None:
    assert failure("redfish_power", error).result == {"failed": True, "msg": f"redfish_power: {error}"}


@pytest.mark.parametrize(
    "error",
    [
        ConflictError("somebody is at its firmware"),
        StoreError("locked"),
        SettingsError("no such file"),
        SourceError("no BMC"),
        SchedulerError("it is away"),
    ],
)
def test_whatever_else_fails_is_ours(error: FleetError) -> None:
    assert failure("redfish_power", error).result[OWN] is True


@pytest.mark.parametrize(
    ("result", "own"),
    [
        ({OWN: True, "msg": "fleet_boot: the store is locked"}, True),
        ({"msg": "redfish_power: no answer"}, False),
        ({"msg": "Task failed: Error while evaluating conditional: 'x' is undefined"}, True),
        ({"msg": "Task failed: Finalization of task args for 'debug' failed: 'x' is undefined"}, True),
        ({"msg": "Task failed: Module failed: cannot allocate memory"}, False),
        ({"msg": None}, False),
        ({}, False),
    ],
)
def test_a_task_that_could_not_even_be_told_is_ours(result: dict[str, object], own: bool) -> None:
    """A variable of our playbooks that is missing says nothing about the node."""
    assert is_own(result) is own
