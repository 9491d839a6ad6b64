"""Power supplies that stand in for each other, the health of parts, and what real BMCs answer to all of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.bmc_trees import DGX, SUPERMICRO, gathered, tree_of
from tests.core.checks.catalogue.judging import HEALTHY, NODE, PROFILE, changed, judged, remedies
from tests.core.checks.catalogue.test_boot_and_firmware import shipped

POWER: dict[str, Any] = json.loads(HEALTHY["power_redundancy"]["redfish_power"])
SUPPLIES: dict[str, Any] = json.loads(HEALTHY["power_redundancy"]["redfish_supplies"])
HEALTH: dict[str, Any] = json.loads(HEALTHY["chassis_health"]["redfish_health"])
CHASSIS = "/redfish/v1/Chassis/1"
SUBSYSTEM = f"{CHASSIS}/PowerSubsystem"
FIRST, SECOND = (f"{SUBSYSTEM}/PowerSupplies/PSU{n}" for n in range(2))
OK = {"Health": "OK", "State": "Enabled"}


def supplies(units: Any, power: Any = None) -> Result:
    """Judge the supplies of a BMC whose Power lists none."""
    texts = {"redfish_power": json.dumps(power or {}), "redfish_supplies": json.dumps(units)}
    return judged("power_supplies", texts)


def test_supplies_with_resources_of_their_own_are_counted_like_any() -> None:
    """With and without a Power beside them."""
    assert supplies(SUPPLIES).message == "2 of 2 power supplies give power"
    assert supplies(SUPPLIES, {f"{CHASSIS}/Power": {"Voltages": []}}).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("uri", "values", "code"),
    [
        (SECOND, {"Status": {"Health": "Critical"}}, "psu.faulty"),
        (SECOND, {"Status": {"State": "Absent"}}, "psu.missing"),
        (SECOND, {"LineInputStatus": "LossOfInput"}, "psu.no_input"),
        (f"{FIRST}/Metrics", {"InputVoltage": {"Reading": 0}}, "psu.no_input"),
    ],
)
def test_a_supply_of_its_own_that_is_not_well_is_found(uri: str, values: Any, code: str) -> None:
    """As in a chassis' Power."""
    assert remedies(supplies(SUPPLIES | {uri: SUPPLIES[uri] | values})) == {code: Remedy.TRIAGE}


@pytest.mark.parametrize("status", [{"Health": "Warning", "State": "Enabled"}, {"Health": "OK", "State": "Absent"}])
def test_a_supply_without_a_health_is_as_well_as_its_group(status: dict[str, str]) -> None:
    """And unproven without one that is well."""
    group = SUPPLIES[SUBSYSTEM]["PowerSupplyRedundancy"][0] | {"Status": status}
    result = supplies(SUPPLIES | {SUBSYSTEM: {"PowerSupplyRedundancy": [group]}})
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "the BMC reports no health of PSU0")


def test_a_supply_that_answers_with_an_error_is_not_missing() -> None:
    """Nobody knows what is there."""
    result = supplies({uri: body for uri, body in SUPPLIES.items() if "PSU1" not in uri} | {SECOND: None})
    assert result.verdict is Verdict.UNKNOWN
    assert "PSU1 with an error" in result.message


def test_metrics_without_a_voltage_say_nothing_of_the_input() -> None:
    """Not every vendor measures it."""
    assert supplies(SUPPLIES | {f"{FIRST}/Metrics": {"@odata.type": "#PowerSupplyMetrics.v1_0_1.PowerSupplyMetrics"}})


def test_no_supply_at_all_is_unknown() -> None:
    """No running server has none."""
    assert supplies({SUBSYSTEM: SUPPLIES[SUBSYSTEM]}, {f"{CHASSIS}/Power": {}}).verdict is Verdict.UNKNOWN


def power(expected: Expected | None = None, /, units: Any = SUPPLIES, **values: Any) -> Result:
    """Judge the redundancy of a chassis whose Power has other values."""
    body = {f"{CHASSIS}/Power": POWER[f"{CHASSIS}/Power"] | values}
    texts = {"redfish_power": json.dumps(body), "redfish_supplies": json.dumps(units)}
    return judged("power_redundancy", texts, expected) if expected else judged("power_redundancy", texts)


LOST = [{"Name": "Group 1", "Status": {"Health": "Critical", "State": "Enabled"}}]


def test_a_group_that_lost_its_redundancy_is_a_persons_case_unless_a_supply_is() -> None:
    """`power_supplies` has the ticket of a supply that failed."""
    result = power(Redundancy=LOST)
    assert remedies(result) == {"power.redundancy_lost": Remedy.TRIAGE}
    assert "both feeds" in result.findings[0].steps[0]
    for values in ({"Status": {"Health": "Critical"}}, {"LineInputVoltage": 0}, {"Status": {"State": "Absent"}}):
        rows = POWER[f"{CHASSIS}/Power"]["PowerSupplies"]
        bad = power(Redundancy=LOST, PowerSupplies=[rows[0] | values, *rows[1:]])
        assert (bad.verdict, remedies(bad)) == (Verdict.PASS, {"power.redundancy_lost": Remedy.RECORD})
        assert "not OK: Power Supply Bay 1" in bad.findings[0].message


def test_a_bmc_that_tells_of_no_group_is_unknown_where_one_is_expected() -> None:
    """And passes where none is."""
    assert power(units={}).verdict is Verdict.UNKNOWN
    assert power(changed("power", {"limit_watts_min": 1}), units={}).verdict is Verdict.PASS
    assert power(changed("power", {"limit_watts_min": 1, "redundancy": False}), units={}).verdict is Verdict.PASS


def test_a_bmc_with_a_power_subsystem_alone_is_judged_by_it() -> None:
    """Newer ones have no Power."""
    texts = {"redfish_power": "{}", "redfish_supplies": json.dumps(SUPPLIES)}
    assert judged("power_redundancy", texts).verdict is Verdict.PASS
    assert judged("power_redundancy", texts | {"redfish_supplies": "{}"}).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("drawn", "limit", "held"),
    [(4990, 5000, True), (2100, 5000, False), (None, 5000, False), (5000, None, False), (11_000, 11_000, False),
     (0, 0, False), (9000, 500, False)],
)  # fmt: skip
def test_a_limit_counts_only_while_it_holds_the_node_back(drawn: Any, limit: Any, held: bool) -> None:
    """A DGX shows one of 500 W that nobody switched on."""
    control = {"Name": "System", "PowerConsumedWatts": drawn, "PowerLimit": {"LimitInWatts": limit}}
    result = power(PowerControl=[control, {"MemberId": "1"}])
    assert remedies(result) == ({"power.capped": Remedy.REFLASH} if held else {})


def health(expected: Expected | None = None, /, **bodies: Any) -> Result:
    """Judge the health of parts; each is named by the end of its URI, and None takes its place."""
    bent = dict(HEALTH)
    for uri, body in HEALTH.items():
        end = uri.rpartition("/")[2]
        if end in bodies and uri.startswith(bodies[end].get("under", "/")):
            bent[uri] = body | bodies[end]
    texts = {"redfish_health": json.dumps(bent)}
    return judged("chassis_health", texts, expected) if expected else judged("chassis_health", texts)


def bad(health: str = "Critical", **more: Any) -> dict[str, Any]:
    """Return a part's change to a health."""
    return {"Status": {"Health": health, "State": "Enabled"} | more}


@pytest.mark.parametrize(
    ("end", "under", "code"),
    [
        ("1", "/redfish/v1/Systems/1/Processors", "health.cpu"),
        ("1", "/redfish/v1/Systems/1/Memory", "health.dimm"),
        ("NVMe", "/", "health.storage"),
        ("HGX_GPU_SXM_1", "/", "health.module"),
    ],
)
def test_a_part_that_is_called_critical_is_a_persons_case(end: str, under: str, code: str) -> None:
    """One of which the BMC only warns is looked at again."""
    assert remedies(health(**{end: bad() | {"under": under}})) == {code: Remedy.TRIAGE}
    assert remedies(health(**{end: bad("Warning") | {"under": under}})) == {code: Remedy.WATCH}


def test_what_only_sums_up_its_parts_is_looked_at_again() -> None:
    """They have findings of their own."""
    assert remedies(health(**{"1": bad() | {"under": CHASSIS}})) == {"health.whole": Remedy.WATCH}
    mild = health(**{"1": bad("Warning") | {"under": "/redfish/v1/Managers"}})
    assert (mild.verdict, remedies(mild)) == (Verdict.PASS, {"health.whole": Remedy.RECORD})
    rollup = {"under": CHASSIS, "Status": {"HealthRollup": "Critical", "State": "Enabled"}}
    assert remedies(health(**{"1": rollup})) == {"health.whole": Remedy.WATCH}
    summary = {"MemorySummary": bad(), "under": "/redfish/v1/Systems/1"}
    assert health(**{"1": summary}).findings[0].component == "Memory of 1"


def test_a_finding_has_the_bmcs_own_words() -> None:
    """Where it gives conditions."""
    said = bad(Conditions=[{"Message": "VR \x1b[31mfault"}, {}, 7])
    assert health(HGX_GPU_SXM_1=said).message == (
        "the BMC reports Critical for Chassis HGX_GPU_SXM_1, expected OK: VR \ufffd[31mfault"
    )


def test_parts_that_are_not_there_are_not_judged() -> None:
    """An empty slot may be called anything."""
    assert health(**{"2": {"Status": {"State": "Absent", "Health": "Critical"}}}).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("shown", "way"), [("2025-03-01T09:40:01Z", "301 s ahead"), ("2025-03-01T09:29:59Z", "behind")]
)
def test_a_clock_that_is_off_is_recorded(shown: str, way: str) -> None:
    """Its log's times are then wrong; the GPU baseboard's is set by nobody."""
    result = health(**{"1": {"DateTime": shown, "under": "/redfish/v1/Managers"}})
    assert (result.verdict, remedies(result)) == (Verdict.PASS, {"health.clock": Remedy.RECORD})
    assert way in result.findings[0].message


def test_a_clock_that_says_nothing_is_no_finding() -> None:
    """Nor a part of a type that nobody knows."""
    assert health(**{"1": {"DateTime": None, "@odata.type": None, "under": "/redfish/v1/Managers"}}).findings == ()
    assert health(**{"1": {"DateTime": "never", "under": "/redfish/v1/Managers"}}).findings == ()


def test_what_answers_with_an_error_or_tells_nothing_is_unknown() -> None:
    """The GPU baseboard while the host is off."""
    texts = {"redfish_health": json.dumps(HEALTH | {"/redfish/v1/Systems/HGX_Baseboard_0": None})}
    assert judged("chassis_health", texts).verdict is Verdict.UNKNOWN
    assert judged("chassis_health", {"redfish_health": '{"/x": {"Status": 7}}'}).message == (
        "the BMC reports no health of any part"
    )


CAPTURED = {"sys_821ge_tnhr": (SUPERMICRO, "2023-11-30T21:01:20Z"), "dgxh100": (DGX, "2024-07-10T22:11:20Z")}
"""The device type of each captured server, and when it was captured by its BMC's clock."""

CHECKED = ("power_supplies", "power_redundancy", "sensors", "sel", "chassis_health")


@pytest.mark.parametrize("slug", CAPTURED)
@pytest.mark.parametrize("check", CHECKED)
def test_a_captured_server_is_well_by_the_profile_of_its_device_type(
    samples: Path, project: Path, slug: str, check: str
) -> None:
    """A real machine, and the profile shipped for it."""
    name, at = CAPTURED[slug]
    assert captured(
        samples, name, check, Expected(NODE, shipped(project, slug), run={"now": moment(at)})
    ).verdict is (Verdict.PASS)


@pytest.mark.parametrize("check", CHECKED)
def test_a_captured_dgx_whose_baseboard_does_not_answer_is_never_failed(
    samples: Path, project: Path, check: str
) -> None:
    """It answers 503 while the host is off; what the server's own BMC says is known all the same."""
    off = dict.fromkeys((f"/redfish/v1/{kind}/HGX_" for kind in ("Systems", "Chassis", "Managers")), 503)
    name, at = CAPTURED["dgxh100"]
    expected = Expected(NODE, shipped(project, "dgxh100"), run={"now": moment(at)})
    unknown = {"sel", "chassis_health"}
    assert captured(samples, name, check, expected, off).verdict is (
        Verdict.UNKNOWN if check in unknown else Verdict.PASS
    )


def captured(
    samples: Path, name: str, check: str, expected: Expected, answers: dict[str, int] | None = None
) -> Result:
    """Judge a captured BMC."""
    tree = tree_of(samples, name)
    power = json.dumps({uri: body for uri, body in tree.items() if uri.endswith("/Power")})
    reads = {
        "power_supplies": ("redfish_power", "redfish_supplies"),
        "power_redundancy": ("redfish_power", "redfish_supplies"),
        "sensors": ("redfish_sensors",),
        "sel": ("redfish_logs",),
        "chassis_health": ("redfish_health",),
    }[check]
    texts = {read: power if read == "redfish_power" else gathered(tree, read, answers) for read in reads}
    return judged(check, texts, expected)


def test_a_slip_in_the_profile_is_unknown_and_named() -> None:
    """Nobody's hardware is at fault."""
    for section, check in (("power", "power_redundancy"), ("sensors", "sensors"), ("sel", "sel")):
        result = judged(check, HEALTHY[check], Expected(NODE, PROFILE | {section: {"days": "x", "redundancy": 7}}))
        assert result.verdict is Verdict.UNKNOWN
        assert f"fleet_profile.{section}." in result.message
