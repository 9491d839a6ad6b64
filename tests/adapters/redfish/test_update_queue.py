"""What stands in an iLO's update task queue keeps images away, whoever put it there."""

from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.core.base.errors import BmcError
from fleet_runner.lab.redfish import Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN, ROOT

SERVICE, QUEUE = f"{ROOT}/UpdateService", f"{ROOT}/UpdateService/UpdateTaskQueue"
USER = ("admin", "correct horse")


def unready(*states: Any, rules: Any = ()) -> str:
    """Say what keeps an iLO from taking an image whose queue has tasks in some states."""
    uris = [f"{QUEUE}/{number}" for number in range(len(states))]
    named = zip(uris, states, strict=True)
    tasks = {uri: {"@odata.id": uri, "Name": "Update BIOS", "State": state} for uri, state in named}
    changes = {
        SERVICE: {"Oem": {"Hpe": {"State": "Idle", "UpdateTaskQueue": {"@odata.id": QUEUE}}}},
        QUEUE: {"Members": [{"@odata.id": uri} for uri in uris]},
        **tasks,
    }
    served = load(OUR_OWN).changed(changes)
    with (
        Emulator(served, credentials=USER, pace=Durations.quick(), rules=rules) as bmc,
        Bmc(bmc.url, *USER) as client,
    ):
        return Updates(client).unready()


@pytest.mark.parametrize("state", ["Pending", "InProgress"])
def test_what_waits_in_the_queue_or_is_written_is_named(state: str) -> None:
    assert unready("Complete", state) == (
        f"its update task queue has 'Update BIOS', which is {state}; a reset of the host would begin it:"
        " have it done, or delete it"
    )


def test_what_has_ended_keeps_nothing_away() -> None:
    assert unready() == unready("Complete", "Exception", "Canceled", "Expired") == ""
    assert unready(None, ["Pending"], {}) == "", "of no state that there is"


def test_a_queue_that_is_not_there_is_empty_and_one_that_cannot_be_read_is_not_known() -> None:
    gone = [{"when": {"uri": QUEUE}, "what": {"answer": {"status": 404}}}]
    assert unready("Pending", rules=gone) == ""
    broken = [{"when": {"uri": QUEUE}, "what": {"answer": {"status": 503}}}]
    with pytest.raises(BmcError, match="answered 503"):
        unready("Pending", rules=broken)
