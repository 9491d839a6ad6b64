"""BIOS settings are verified one by one, and FAIL only where it is certain that a setting was not kept."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.firmware.bios_text import Report, SettingStatus, parse
from tests.core.checks.catalogue.judging import DEVICE, NODE, judged

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
BIOS, FUTURE = "/redfish/v1/Systems/1/Bios", "/redfish/v1/Systems/1/Bios/SD"
LINK = {"SettingsObject": {"@odata.id": FUTURE}}
NOW = {"SRIOV": "Disabled", "Payload": 256, "Quiet": True, "Text": None}


def asked(
    wanted: Any,
    now: Any = NOW,
    future: Any = None,
    stand: SettingStatus | None = None,
    said: Any = LINK,
) -> Result:
    """Judge settings; `future` is the settings object's attributes, None where it could not be read."""
    texts = {"redfish_bios": json.dumps({BIOS: {"Attributes": now, "@Redfish.Settings": said}})}
    if future is not None:
        texts["redfish_bios_future"] = json.dumps({FUTURE: {"Attributes": future}})
    if stand is not None:
        texts["bios_progress"] = json.dumps(Report(stand, "as was reported").to_json())
    return judged("bios_settings", texts, Expected(NODE, {"bios": {"attributes": wanted}}, DEVICE))


def test_each_setting_that_is_off_is_named_with_what_is_and_what_should_be() -> None:
    result = asked({"SRIOV": "Enabled", "Payload": 512, "Quiet": "true"}, future={})
    assert (result.verdict, result.observed) == (
        FAIL,
        {"attributes": {"SRIOV": "Disabled", "Payload": 256, "Quiet": True}},
    )
    assert result.message == "SRIOV is 'Disabled', expected 'Enabled'; Payload is 256, expected 512"
    assert [finding.fault for finding in result.findings] == [
        "gpu-01/bios.setting/SRIOV",
        "gpu-01/bios.setting/Payload",
    ]
    assert {finding.remedy for finding in result.findings} == {Remedy.REFLASH}


@pytest.mark.parametrize(
    ("stand", "future", "verdict", "why"),
    [
        (None, {"SRIOV": "Enabled"}, UNKNOWN, "SRIOV is pending: the next reset of the host sets it to 'Enabled'"),
        (None, {"SRIOV": "Auto"}, FAIL, "SRIOV is 'Disabled', expected 'Enabled'"),
        (None, None, UNKNOWN, "SRIOV is not in force, and the pending settings cannot be read"),
        (SettingStatus.WAITING, {}, FAIL, "SRIOV is 'Disabled', expected 'Enabled'"),
        (SettingStatus.WAITING, {**NOW, "SRIOV": "Enabled"}, UNKNOWN, "SRIOV is pending"),
        (SettingStatus.PLANNED, {}, FAIL, "SRIOV is 'Disabled'"),
        (
            SettingStatus.SETTLED,
            {},
            UNKNOWN,
            "SRIOV was right before the boot and is not now; the next run sets it again",
        ),
        (SettingStatus.FAILED, {"SRIOV": "Enabled"}, FAIL, "SRIOV is 'Disabled'"),
        (SettingStatus.FAILED, None, FAIL, "SRIOV is 'Disabled'"),
        (SettingStatus.REFUSED, {}, UNKNOWN, "as was reported"),
        (SettingStatus.UNREAD, {}, UNKNOWN, "as was reported"),
        (SettingStatus.BUSY, {}, UNKNOWN, "as was reported"),
    ],
)
def test_what_follows_from_a_setting_that_is_off(
    stand: SettingStatus | None, future: Any, verdict: Verdict, why: str
) -> None:
    result = asked({"SRIOV": "Enabled"}, future=future, stand=stand)
    assert (result.verdict, result.message.startswith(why)) == (verdict, True), result.message
    assert result.observed.get("working", False) is (stand is SettingStatus.BUSY)


@pytest.mark.parametrize(
    ("name", "stand", "verdict", "why"),
    [
        ("Nothing", None, UNKNOWN, "the BMC shows no Nothing"),
        ("Nothing", SettingStatus.FAILED, UNKNOWN, "the BMC shows no Nothing"),
        ("Text", SettingStatus.WAITING, UNKNOWN, "the BMC shows no Text"),
        ("Text", SettingStatus.FAILED, FAIL, "Text is None, expected 'x'"),
    ],
)
def test_a_setting_that_is_not_shown_is_unknown(
    name: str, stand: SettingStatus | None, verdict: Verdict, why: str
) -> None:
    result = asked({name: "x"}, future={}, stand=stand)
    assert (result.verdict, result.message) == (verdict, why)


def test_a_fault_counts_although_another_setting_is_not_known() -> None:
    assert asked({"SRIOV": "Enabled", "Nothing": 1}, future={}).verdict is FAIL


@pytest.mark.parametrize(
    ("job", "verdict"),
    [
        ({"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": "Running"}, UNKNOWN),
        ({"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": "Completed"}, FAIL),
        ({"Id": "JID_1", "JobType": "FirmwareUpdate", "JobState": "Running"}, FAIL),
        ("odd", FAIL),
    ],
)
def test_a_job_that_is_at_the_settings_leaves_them_unknown_until_it_ends(job: Any, verdict: Verdict) -> None:
    """An iDRAC applies settings for minutes, and shows them as in force before it is done."""
    texts = {
        "redfish_bios": json.dumps({BIOS: {"Attributes": NOW, "@Redfish.Settings": LINK}}),
        "redfish_bios_future": json.dumps({FUTURE: {"Attributes": {}}}),
        "redfish_bios_jobs": json.dumps({"/redfish/v1/Jobs/JID_1": job}),
    }
    result = judged("bios_settings", texts, Expected(NODE, {"bios": {"attributes": {"SRIOV": "Enabled"}}}, DEVICE))
    assert result.verdict is verdict
    if verdict is UNKNOWN:
        assert result.observed == {"working": True}
        assert result.message.startswith("job JID_1 (Running) is at the BIOS settings")


@pytest.mark.parametrize(
    ("oem", "jobs", "verdict"),
    [
        ({"Dell": {"Jobs": {"@odata.id": "/redfish/v1/Jobs"}}}, None, UNKNOWN),
        ({"Dell": {"Jobs": {"@odata.id": "/redfish/v1/Jobs"}}}, {"/redfish/v1/Jobs/JID_1": None}, UNKNOWN),
        ({"Dell": {"Jobs": {"@odata.id": "/redfish/v1/Jobs"}}}, {}, PASS),
        ({"Dell": {"Jobs": "odd"}}, None, PASS),
        ({"Dell": "odd"}, {"/redfish/v1/Jobs/JID_1": None}, PASS),
    ],
)
def test_jobs_that_a_bmc_has_and_that_cannot_be_read_may_be_at_the_settings(
    oem: Any, jobs: Any, verdict: Verdict
) -> None:
    texts = {
        "redfish_bios": json.dumps({BIOS: {"Attributes": NOW, "@Redfish.Settings": LINK}}),
        "redfish_bios_future": json.dumps({FUTURE: {"Attributes": {}, "Oem": oem}}),
    }
    if jobs is not None:
        texts["redfish_bios_jobs"] = json.dumps(jobs)
    result = judged("bios_settings", texts, Expected(NODE, {"bios": {"attributes": {"SRIOV": "Disabled"}}}, DEVICE))
    assert result.verdict is verdict
    assert (verdict is PASS) is (result.message != "the BMC's jobs cannot be read, one of which may be at the BIOS"
                                 " settings")  # fmt: skip


@pytest.mark.parametrize("future", [{}, None])
def test_a_setting_that_is_sent_once_another_one_is_in_force_is_unknown_until_then(future: Any) -> None:
    report = Report(SettingStatus.WAITING, "as was reported", later=("SRIOV", "Quiet"))
    texts = {
        "redfish_bios": json.dumps({BIOS: {"Attributes": NOW, "@Redfish.Settings": LINK}}),
        "bios_progress": json.dumps(report.to_json()),
    }
    if future is not None:
        texts["redfish_bios_future"] = json.dumps({FUTURE: {"Attributes": future}})
    wanted = {"SRIOV": "Enabled", "Quiet": True}
    result = judged("bios_settings", texts, Expected(NODE, {"bios": {"attributes": wanted}}, DEVICE))
    assert (result.verdict, "SRIOV is set in the next run" in result.message) == (UNKNOWN, True)
    assert result.observed["working"] is True, "the next run goes on with it"
    others = Expected(NODE, {"bios": {"attributes": {**wanted, "Payload": 512}}}, DEVICE)
    failed = judged("bios_settings", texts, others)
    assert (failed.verdict, "working" in failed.observed) == ((UNKNOWN, True) if future is None else (FAIL, False))


def test_a_link_may_be_written_in_full() -> None:
    said = {"SettingsObject": {"@odata.id": f"https://10.0.0.1{FUTURE}"}}
    assert asked({"SRIOV": "Enabled"}, future={"SRIOV": "Enabled"}, said=said).verdict is UNKNOWN
    assert asked({"SRIOV": "Enabled"}, future={}, said=said).verdict is FAIL


@pytest.mark.parametrize("said", [None, {}, {"SettingsObject": 7}])
def test_a_bios_without_a_settings_object_has_nothing_waiting(said: Any) -> None:
    assert asked({"SRIOV": "Enabled"}, said=said).verdict is FAIL


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([{"Message": "all is well", "MessageSeverity": "OK"}, {"Message": "first"}, {"Message": "SRIOV is locked"}],
         "SRIOV is locked"),
        ([{"Message": "first", "Severity": "Warning"}, {"Message": "second"}], "first"),
        ([{"Message": "x" * 300}], "x" * 200),
        ([7, {"Message": None}, {}], ""),
        ("no list", ""),
    ],
)  # fmt: skip
def test_a_setting_that_was_not_kept_is_told_with_what_the_bmc_says(messages: Any, told: str) -> None:
    said = LINK | {"Messages": messages}
    result = asked({"SRIOV": "Enabled"}, future={}, said=said)
    assert result.message.removeprefix("SRIOV is 'Disabled', expected 'Enabled'") == (
        told and f"; the BMC says: {told}"
    )


@given(st.dictionaries(st.sampled_from([*NOW]), st.booleans() | st.integers() | st.text(max_size=5), max_size=3))
def test_a_profile_that_asks_for_what_is_passes_and_for_anything_else_does_not(wanted: dict[str, Any]) -> None:
    held = {name: value for name, value in wanted.items() if value == NOW[name] and type(value) is type(NOW[name])}
    assert asked(held, future={}).verdict is PASS
    result = asked(wanted, future={})
    assert (result.verdict is PASS) is (held == wanted)


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        ({"bios": {"attributes": {}}}, (PASS, "the profile asks for none")),
        ({"firmware": {}}, (Verdict.SKIPPED, "the device type's profile has no bios")),
    ],
)
def test_a_profile_that_asks_for_none_condemns_nothing(profile: Any, answer: tuple[Verdict, str]) -> None:
    shown: list[dict[str, Any]] = [{}, {BIOS: {"Attributes": NOW}}, {BIOS: {}}]
    for bodies in shown:
        result = judged("bios_settings", {"redfish_bios": json.dumps(bodies)}, Expected(NODE, profile, DEVICE))
        assert (result.verdict, result.message) == answer


@pytest.mark.parametrize(
    ("bodies", "why"),
    [
        ({}, "the BMC shows no BIOS settings yet; it shows them once the host has booted: check again"),
        ({BIOS: {"Attributes": "x"}}, "the BMC shows no BIOS settings"),
        ({BIOS: {"Attributes": NOW}, "/other": {"Attributes": NOW}}, "several computers have BIOS settings"),
    ],
)
def test_settings_that_cannot_be_read_are_unknown(bodies: Any, why: str) -> None:
    profile = {"bios": {"attributes": {"SRIOV": "Enabled"}}}
    result = judged("bios_settings", {"redfish_bios": json.dumps(bodies)}, Expected(NODE, profile, DEVICE))
    assert result.verdict is UNKNOWN
    assert why in result.message


def test_the_board_of_the_gpus_is_no_computer() -> None:
    bodies = {"/redfish/v1/Systems/HGX_Baseboard_0/Bios": {"Attributes": {"SRIOV": "x"}}, BIOS: {"Attributes": NOW}}
    profile = {"bios": {"attributes": {"SRIOV": "Disabled"}}}
    result = judged("bios_settings", {"redfish_bios": json.dumps(bodies)}, Expected(NODE, profile, DEVICE))
    assert result.verdict is PASS


@given(st.text())
@example("{}")
@example('{"state": "lost", "message": ""}')
def test_a_report_that_is_none_is_unknown(text: str) -> None:
    texts = {"redfish_bios": json.dumps({BIOS: {"Attributes": NOW}}), "bios_progress": text}
    result = judged("bios_settings", texts, Expected(NODE, {"bios": {"attributes": {"Payload": 1}}}, DEVICE))
    assert result.verdict is UNKNOWN


@given(
    st.builds(
        Report,
        st.sampled_from(SettingStatus),
        st.text(),
        st.none() | st.dictionaries(st.text(), st.integers()),
        st.none() | st.floats(0, 1e12),
        st.lists(st.text()).map(tuple),
        st.booleans(),
        st.lists(st.text()).map(tuple),
    )
)
def test_a_report_is_read_as_it_was_written(report: Report) -> None:
    assert parse(json.dumps(report.to_json()), "it") == report


@pytest.mark.parametrize(("name", "system"), [("dgx_h100", "DGX"), ("supermicro_hgx_h100", "1")])
def test_captured_machines_are_as_they_are(samples: Path, name: str, system: str) -> None:
    tree = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    uri = f"/redfish/v1/Systems/{system}/Bios"
    now = {key: value for key, value in tree[uri]["Attributes"].items() if len(str(value or "")) < 200}
    now = {key: value for key, value in now.items() if value is not None}
    texts = {"redfish_bios": json.dumps({uri: tree[uri]})}
    expected = Expected(NODE, {"bios": {"attributes": now}}, DEVICE)
    assert judged("bios_settings", texts, expected).verdict is PASS
    first = next(key for key, value in now.items() if isinstance(value, str))
    waiting = {f"{uri}/SD": {**tree[f"{uri}/SD"], "Attributes": {**now, first: "Other"}}}
    other = Expected(NODE, {"bios": {"attributes": {**now, first: "Other"}}}, DEVICE)
    assert judged("bios_settings", texts | {"redfish_bios_future": json.dumps(waiting)}, other).verdict is UNKNOWN
    there = {f"{uri}/SD": tree[f"{uri}/SD"]}
    assert judged("bios_settings", texts | {"redfish_bios_future": json.dumps(there)}, other).verdict is FAIL
