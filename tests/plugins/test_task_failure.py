"""Whose a task's failure is, as the runner is told of it."""

import pytest

from fleet_runner.adapters.task_failure import OWN, failure
from fleet_runner.core.errors import (
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
