"""What the lab's BMCs tell of by themselves, as faults come and go."""

import json
from threading import Event, Thread
from typing import Any

import pytest

from fleet_runner.core.faults.signals.redfish import read
from fleet_runner.core.faults.signals.redfish_ends import ENDS
from fleet_runner.lab import alerts, bmc, hardware
from fleet_runner.lab.faults import FAULTS
from fleet_runner.lab.folder import Lab
from tests.lab.redfish.talking import wait
from tests.lab.redfish.test_eventing import SUBSCRIPTIONS, asked, hearing
from tests.waiting import until

HEALED: dict[str, Any] = {}


@pytest.mark.parametrize("fault", alerts.ALERTS)
def test_a_faults_end_takes_back_what_its_beginning_told(fault: str) -> None:
    """By DMTF's own pairs, of the same part; with whatever options the fault has."""
    options = FAULTS[fault].options
    (begins,) = alerts.events(HEALED, {fault: options})
    (ends,) = alerts.events({fault: options}, HEALED)
    assert list(alerts.events({fault: options}, {fault: options})) == []
    assert _name(begins) in ENDS[_name(ends)]
    assert begins["OriginOfCondition"] == ends["OriginOfCondition"]
    assert "{" not in begins["OriginOfCondition"]["@odata.id"] + begins["Message"]


def test_a_fault_that_moves_ends_here_and_begins_there() -> None:
    told = list(alerts.events({"dead_psu": {"psu": 1}}, {"dead_psu": {"psu": 4}, "xid": {"code": 79, "gpu": 1}}))
    assert [(each["MessageId"].rpartition(".")[2], each["MessageArgs"]) for each in told] == [
        ("PowerSupplyRestored", ["Power supply 1"]), ("PowerSupplyFailed", ["Power supply 4"]),
    ]  # fmt: skip


def test_only_whoever_subscribed_is_told_and_of_what_changes_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A BMC that is down tells of it once it is back."""
    faults: dict[str, Any] = {"dead_fan": {"fan": 1}}
    looks: list[dict[str, Any]] = []

    def state_of(*_: object) -> dict[str, Any]:
        looks.append(dict(faults))
        return {"faults": looks[-1]}

    def looked() -> None:
        """Wait until a look that begins now is over."""
        before = len(looks)
        until(lambda: len(looks) > before + 1)

    monkeypatch.setattr(hardware, "state_of", state_of)
    monkeypatch.setattr(bmc, "EVENT_SECONDS", 0.01)
    with hearing() as (emulator, client, ear):
        over = Event()
        thread = Thread(target=bmc.tell, args=(Lab.__new__(Lab), {"gpu-01": emulator}, over))
        thread.start()
        try:
            client.ask("POST", SUBSCRIPTIONS, asked(ear))
            looked()
            faults["bmc_down"] = {}
            faults["dead_psu"] = {"psu": 2}
            looked()
            assert ear.told() == []
            del faults["bmc_down"]
            wait(lambda: ear.told() == ["Power.1.2.PowerSupplyFailed"])
        finally:
            over.set()
            thread.join()
        ((_, body),) = ear.heard
        (signal,) = read(json.dumps(body), 1.0, "gpu-01")
        assert (signal.code, signal.component) == ("redfish.Power.PowerSupplyFailed", "2")


def _name(event: dict[str, Any]) -> str:
    registry, *_, message = event["MessageId"].split(".")
    return f"{registry}.{message}"
