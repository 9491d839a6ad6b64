"""Events of BMCs, in the forms that vendors send them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.redfish import MOST_EVENTS, read
from fleet_runner.core.faults.signals.redfish_ends import ENDS
from fleet_runner.core.faults.signals.signal import Source
from tests.core.faults.signals.telling import NOW, Rules

DELL: dict[str, Any] = {
    "Context": "gpu-01", "EventId": "2162", "EventTimestamp": "2023-11-14T16:13:20-06:00", "EventType": "Alert",
    "MemberId": "1368", "Message": "The Inlet temperature is greater than the upper warning threshold.",
    "MessageArgs": [" Inlet"], "MessageArgs@odata.count": 1, "MessageId": "IDRAC.2.9.TMP0114",
    "MessageSeverity": "Warning", "Severity": "Warning",
    "OriginOfCondition": {"@odata.id": "/redfish/v1/Chassis/System.Embedded.1/Sensors/SystemBoardInletTemp"},
}  # fmt: skip
DELL_NEW = DELL | {
    "MessageArgs": None, "MessageId": "IDRAC.TMP0120", "Severity": None,
    "OriginOfCondition": {"@odata.id": "/redfish/v1/Systems/System.Embedded.1"},
}  # fmt: skip
HGX: dict[str, Any] = {
    "@odata.type": "#Message.v1_1_1.Message", "EventId": "31", "EventTimestamp": "2023-11-14T22:13:20+00:00",
    "Message": "The resource property GPU_SXM_3 has detected errors of type 'Uncorrectable ECC'.",
    "MessageArgs": ["GPU_SXM_3", "Uncorrectable ECC"], "MessageId": "ResourceEvent.1.0.ResourceErrorsDetected",
    "MessageSeverity": "Critical",
    "OriginOfCondition": {"@odata.id": "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_3"},
}  # fmt: skip
OPENBMC: dict[str, Any] = {
    "EventId": "1731870715", "EventTimestamp": "2023-11-14T22:13:20+00:00", "MemberId": "0", "Message": "too hot",
    "MessageArgs": ["Inlet_Temp", "51", "50"], "MessageId": "OpenBMC.0.1.SensorThresholdCriticalHighGoingHigh",
    "Severity": "Critical",
}  # fmt: skip
HPE: dict[str, Any] = {
    "EventID": "0f1e", "EventTimestamp": "2023-11-14T22:13:20Z", "EventType": "Alert", "MemberID": "1",
    "MessageArgs": ["2"], "MessageID": "", "MessageId": "iLOEvents.2.3.PowerSupplyFailed", "Severity": "Critical",
    "OriginOfCondition": "/redfish/v1/Chassis/1/Power/PowerSupplies/2/",
}  # fmt: skip
SUPERMICRO: dict[str, Any] = {
    "EventId": "5", "EventTimestamp": "2023-11-14T22:13:20", "EventType": "Alert", "Message": "FAN1 failed",
    "MessageId": "SMC.1.0.OEMFanFailure", "MessageArgs": ["FAN1"], "Severity": "Critical",
    "OriginOfCondition": {"@odata.id": "/redfish/v1/Systems/1/LogServices/Log1/Entries/5"},
}  # fmt: skip


def post(*events: dict[str, Any], **more: str) -> str:
    """Return a post as BMCs send it."""
    return json.dumps(
        {"@odata.type": "#Event.v1_4_0.Event", "Id": "1", "Name": "Events", "Events": list(events)} | more
    )


@pytest.mark.parametrize(
    ("event", "code", "component", "remedy"),
    [
        (DELL, "redfish.IDRAC.TMP0114", "SystemBoardInletTemp", Remedy.RECORD),
        (DELL_NEW, "redfish.IDRAC.TMP0120", "", Remedy.RECORD),
        (HGX, "redfish.ResourceEvent.ResourceErrorsDetected", "GPU_SXM_3", Remedy.WATCH),
        (OPENBMC, "redfish.OpenBMC.SensorThresholdCriticalHighGoingHigh", "Inlet_Temp", Remedy.WATCH),
        (HPE, "redfish.iLOEvents.PowerSupplyFailed", "2", Remedy.WATCH),
        (SUPERMICRO, "redfish.SMC.OEMFanFailure", "FAN1", Remedy.WATCH),
        ({"EventType": "Alert", "Severity": "Critical"}, "redfish.Alert", "", Remedy.WATCH),
        ({"MessageId": "0x01 00FF", "Severity": "Warning"}, "redfish.0x01_00FF", "", Remedy.RECORD),
        ({"Severity": "Warning"}, "redfish.Event", "", Remedy.RECORD),
    ],
)
def test_an_event_is_read_as_each_vendor_sends_it(
    event: dict[str, Any], code: str, component: str, remedy: Remedy
) -> None:
    """The registry and the message without its version, and the part that it is about."""
    (one,) = read(post(event), NOW + 5, "gpu-01")
    assert (one.node, one.code, one.component, one.remedy) == ("gpu-01", code, component, remedy)
    assert (one.at, one.source) == (NOW if "EventTimestamp" in event else NOW + 5, Source.REDFISH)


def test_whose_event_it_is_says_the_listener_or_the_subscription() -> None:
    """Its context, of the whole post or of each event."""
    assert [each.node for each in read(post(HGX, Context="gpu-02"), NOW)] == ["gpu-02"]
    assert [each.node for each in read(post(DELL, HGX), NOW)] == ["gpu-01", ""]
    assert [each.node for each in read(post(DELL, Context="gpu-02"), NOW, "gpu-03")] == ["gpu-03"]


@pytest.mark.parametrize("name", ["TaskEvent.1.0.TaskAborted", "Base.1.8.GeneralError", "HeartbeatEvent.1.0.X"])
def test_a_bmcs_own_business_is_no_fault(name: str) -> None:
    """However critical it calls it; nor is what it calls well."""
    assert read(post({"MessageId": name, "Severity": "Critical"}), NOW) == ()
    assert read(post(HGX | {"MessageSeverity": "OK"}), NOW) == ()


def test_a_message_takes_back_those_that_its_registry_names() -> None:
    """Of the same part; what is still not well is a fault of its own."""
    desk = AlarmEngine(Rules())
    desk.hear(
        read(post(HGX, HGX | {"EventId": "32", "OriginOfCondition": "/x/Processors/GPU_SXM_4"}), NOW, "gpu-01"), NOW
    )
    well = HGX | {
        "EventId": "40", "MessageId": "ResourceEvent.1.4.ResourceErrorsCorrected", "MessageSeverity": "OK",
        "EventTimestamp": "2023-11-14T22:20:00Z",
    }  # fmt: skip
    (over,) = desk.hear(read(post(well), NOW + 500, "gpu-01"), NOW + 500).changed
    assert (over.component, over.cleared_because) == ("GPU_SXM_3", "its sender ended it")
    below = {"MessageId": "SensorEvent.1.1.ReadingBelowUpperCriticalThreshold", "Severity": "Warning"}
    assert [(each.code, each.ended) for each in read(post(below), NOW)] == [
        ("redfish.SensorEvent.ReadingAboveUpperCriticalThreshold", True),
        ("redfish.SensorEvent.ReadingBelowUpperCriticalThreshold", False),
    ]


@pytest.mark.parametrize(
    ("fault", "well", "part"),
    [
        ("PowerSupplyFailed", "PowerSupplyRecovered", "PSU3"),
        ("PowerSupplyPowerLost", "PowerSupplyPowerRestored", "PSU3"),
        ("PowerUnitRedundancyLost", "PowerUnitRedundancyRegained", ""),
        ("FanRedundancyLost", "FanRedundancyRegained", ""),
        ("ServiceFailure", "ServiceStarted", "nvidia-fan-control.service"),
    ],
)
def test_openbmc_takes_back_what_has_recovered(fault: str, well: str, part: str) -> None:
    """Of the same part alone, by the message's first argument; its registry has no ClearingLogic."""
    arguments = [part] if part else []
    failed = OPENBMC | {"MessageId": f"OpenBMC.0.6.{fault}", "Severity": "Warning", "MessageArgs": arguments}
    other = failed | {"EventId": "2", "MessageArgs": ["PSU4"]}
    desk = AlarmEngine(Rules())
    desk.hear(read(post(failed, other), NOW, "gpu-01"), NOW)
    recovered = failed | {"EventId": "3", "MessageId": f"OpenBMC.0.6.{well}", "Severity": "OK",
                          "EventTimestamp": "2023-11-14T22:20:00Z"}  # fmt: skip
    changed = desk.hear(read(post(recovered), NOW + 500, "gpu-01"), NOW + 500).changed
    assert [(each.component, each.cleared_because) for each in changed] == [(part, "its sender ended it")]
    assert len(desk) == 1, "the other one's still stands"


def test_an_event_that_comes_twice_is_one() -> None:
    """By its number; without one by its time, and where that cannot be believed by all of it."""
    for event in (
        HGX,
        OPENBMC,
        HGX | {"EventId": ""},
        HGX | {"EventId": "", "EventTimestamp": "1970-01-01T00:00:00Z"},
    ):
        desk = AlarmEngine(Rules())
        assert len(desk.hear(read(post(event), NOW, "gpu-01"), NOW).changed) == 1
        assert desk.hear(read(post(event), NOW + 30, "gpu-01"), NOW + 30).changed == ()


def test_every_message_that_takes_back_names_others_of_its_registry() -> None:
    """None takes itself back."""
    for name, ended in ENDS.items():
        assert ended
        assert name not in ended
        assert {each.partition(".")[0] for each in ended} == {name.partition(".")[0]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not JSON"),
        ("{}", "the BMC's post, its Events: found None, expected a list of objects"),
        (post(*([{}] * (MOST_EVENTS + 1))), "1001 events, expected at most 1000"),
    ],
)
def test_what_is_no_event_is_refused(text: str, told: str) -> None:
    """With what was expected."""
    with pytest.raises(EvidenceError, match=told):
        read(text, NOW)


FIELDS = st.sampled_from(sorted({*DELL, *HGX, "MessageArgs"}))
VALUES = st.one_of(
    st.none(),
    st.text(),
    st.integers(),
    st.lists(st.text(), max_size=2),
    st.dictionaries(st.just("@odata.id"), st.text()),
)
SEVERITIES = st.fixed_dictionaries({"Severity": st.sampled_from(("Critical", "Warning"))}, optional={})


@given(st.one_of(st.text(), st.lists(st.dictionaries(FIELDS, VALUES).flatmap(
    lambda event: SEVERITIES.map(lambda more: event | more))).map(lambda events: post(*events))))  # fmt: skip
def test_nothing_in_a_post_surprises_the_reader(text: str) -> None:
    """It is read or refused."""
    try:
        found = read(text, NOW)
    except EvidenceError:
        return
    assert all(each.code.startswith("redfish.") and len(each.code) < 140 for each in found)
