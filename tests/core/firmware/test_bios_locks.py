"""Settings that others lock are refused before anything is sent, with the setting that locks them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.bios import Seen, plan
from fleet_runner.core.firmware.bios_locks import LOCKS, forced, freed, locked


def term(attribute: str, value: Any, condition: str = "EQU", **more: Any) -> dict[str, Any]:
    """One condition, as registries write it."""
    return {
        "MapFromAttribute": attribute,
        "MapFromProperty": "CurrentValue",
        "MapFromCondition": condition,
        "MapFromValue": value,
        **more,
    }


def lock(*terms: Any, to: str = "Version", lock: str = "Hidden", value: Any = "true", **more: Any) -> dict[str, Any]:
    """A dependency that locks a setting while its terms hold."""
    found = {"MapFrom": list(terms), "MapToAttribute": to, "MapToProperty": lock, "MapToValue": value}
    return {"Type": "Map", "DependencyFor": "Enable", "Dependency": found, **more}


OFF = term("Enable", "Disabled")
ADVICE = "; set Enable otherwise, too, or take Version out of the profile"


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("value", ["true", True])
def test_a_setting_is_locked_while_another_one_says_so(kind: str, value: object) -> None:
    """AMI writes truth values as texts, others as such."""
    found = locked("Version", [lock(OFF, lock=kind, value=value)], {"Enable": "Disabled"})
    assert (
        found == f"found it {LOCKS[kind]} while Enable is 'Disabled', expected a setting that can be changed{ADVICE}"
    )
    assert locked("Version", [lock(OFF, lock=kind, value=value)], {"Enable": "Enabled"}) == ""
    assert locked("Another", [lock(OFF, lock=kind, value=value)], {"Enable": "Disabled"}) == ""


@pytest.mark.parametrize(
    ("terms", "holds"),
    [
        ([term("A", 3)], True),
        ([term("A", "3")], True),
        ([term("A", 3, "NEQ")], False),
        ([term("A", 2, "GTR")], True),
        ([term("A", "2", "GTR")], True),
        ([term("A", 3, "GEQ")], True),
        ([term("A", 3, "LSS")], False),
        ([term("A", 3, "LEQ")], True),
        ([term("A", "x", "LEQ")], False),
        ([term("A", 3, "Like")], False),
        ([term("B", "true")], True),
        ([term("Unknown", 3)], False),
        ([term("Unknown", 3, "NEQ")], False),
        ([term("A", 3, MapFromProperty="ReadOnly")], False),
        ([term("A", 3), term("A", 4, MapTerms="AND")], False),
        ([term("A", 4), term("A", 3, MapTerms="OR")], True),
        ([term("A", 3), term("B", "true", MapTerms="AND")], True),
        ([term("A", 4), term("B", "true", MapTerms="AND")], False),
        (["odd", term("A", 3, MapTerms="OR"), 7], True),
        ([], False),
    ],
)
def test_conditions_are_joined_from_left_to_right_and_what_nobody_knows_locks_nothing(
    terms: list[Any], holds: bool
) -> None:
    assert bool(locked("Version", [lock(*terms)], {"A": 3, "B": True})) is holds


def test_later_dependencies_outdo_earlier_ones_and_other_kinds_lock_nothing() -> None:
    values = {"Enable": "Disabled"}
    assert locked("Version", [lock(OFF), lock(OFF, value=False)], values) == ""
    assert locked("Version", [lock(OFF, value=False), lock(OFF)], values)
    assert locked("Version", [lock(OFF, lock="CurrentValue", value="x")], values) == ""
    assert locked("Version", [lock(OFF, Type="Other"), {"Dependency": "odd"}, {}], values) == ""
    assert locked("Version", [{"Dependency": {"MapToAttribute": "Version", "MapToProperty": "Hidden"}}], values) == ""


def test_a_locked_setting_is_refused_and_one_that_its_own_change_frees_is_not() -> None:
    """Both are in one request: the BMC has both by its next start."""
    seen = Seen({"Enable": "Disabled", "Version": "1"}, dependencies=[lock(OFF, lock="GrayOut")])
    refused = plan({"Version": "2"}, seen).refused
    assert refused == (
        f"Version: found it greyed out while Enable is 'Disabled', expected a setting that can be changed{ADVICE}",
    )
    assert plan({"Version": "1"}, seen).refused == ()
    both = plan({"Version": "2", "Enable": "Enabled"}, seen)
    assert (both.refused, both.later) == ((), ("Version",)), "some BMCs take it only once the other is in force"
    waiting = Seen(seen.attributes, {"Enable": "Enabled"}, dependencies=seen.dependencies)
    assert plan({"Version": "2"}, waiting).refused == ()


def test_what_is_in_force_counts_as_the_bmc_writes_it() -> None:
    """A profile may write true as a text."""
    seen = Seen({"Enable": True, "Version": "1"}, dependencies=[lock(term("Enable", "true", "NEQ"))])
    found = plan({"Enable": "True", "Version": "2"}, seen)
    assert (found.refused, found.later, found.changes) == ((), (), {"Version": "2"})


def test_the_setting_that_another_one_needs_is_named_with_its_value() -> None:
    """As a Dell's ProcPwrPerf, which only the profile Custom leaves free."""
    custom = lock(term("SysProfile", "Custom", "NEQ"), to="ProcPwrPerf", lock="ReadOnly")
    assert locked("ProcPwrPerf", [custom], {"SysProfile": "PerfOptimized"}) == (
        "found it read-only while SysProfile is 'PerfOptimized', expected a setting that can be changed; "
        "set SysProfile to 'Custom', too, or take ProcPwrPerf out of the profile"
    )


@pytest.mark.parametrize(
    ("dependencies", "values", "free"),
    [
        ([], {}, False),
        ([lock(OFF, lock="Hidden")], {"Enable": "Enabled"}, False),
        ([lock(OFF, lock="ReadOnly")], {"Enable": "Enabled"}, True),
        ([lock(OFF, lock="ReadOnly")], {"Enable": "Disabled"}, False),
        ([lock(OFF, lock="ReadOnly"), lock(term("A", 1), lock="ReadOnly")], {"Enable": "Disabled"}, False),
        ([lock(term("A", 1), lock="ReadOnly"), lock(OFF, lock="ReadOnly")], {"Enable": "Disabled"}, False),
        ([lock(OFF, lock="ReadOnly", value="false")], {"Enable": "Disabled"}, True),
        ([lock(OFF, lock="ReadOnly", value="false")], {"Enable": "Enabled"}, False),
    ],
)
def test_what_a_registry_calls_read_only_is_so_where_no_other_setting_frees_it(
    dependencies: list[Any],
    values: Any,
    free: bool,
) -> None:
    """A Dell's registry tells what is so now: HttpDev1Ip is read-only until HttpDev1EnDis is Enabled."""
    assert freed("Version", dependencies, values) is free
    seen = Seen({"Version": "1", **values}, {}, {"Version": {"Type": "String", "ReadOnly": True}}, dependencies)
    assert (plan({"Version": "2"}, seen).refused == ()) is free


MAKES = [lock(term("Profile", "Fast"), lock="CurrentValue", value="Max"),
         lock(term("Profile", "Odd"), lock="CurrentValue", value=None)]  # fmt: skip


def test_what_another_setting_makes_of_one_is_told() -> None:
    among = ["Profile", "Version"]
    assert forced("Version", MAKES, {"Profile": "Fast"}, among) == ("Max", "Profile is 'Fast'")
    assert forced("Version", MAKES, {"Profile": "Odd"}, among) == forced("Version", MAKES, {}, among) == (None, "")
    assert forced("Version", MAKES, {"Profile": "Fast"}, ["Version"]) == (None, "")
    swaps = [lock(term("Version", "A"), lock="CurrentValue", value="B"), {"Dependency": {"MapFrom": 7}}]
    assert forced("Version", swaps, {"Version": "A"}, among) == (None, "")
    odd = {"MapFrom": 7, "MapToAttribute": "Version", "MapToProperty": "CurrentValue", "MapToValue": "B"}
    assert forced("Version", [{"Dependency": odd}], {}, among) == (None, "")


@pytest.mark.parametrize(
    ("wanted", "now", "refused"),
    [
        ({"Version": "Min", "Profile": "Fast"}, {"Version": "Min", "Profile": "Custom"}, True),
        ({"Version": "Min", "Profile": "Fast"}, {"Version": "Max", "Profile": "Fast"}, True),
        # Of one alone, the BMC may know better than its registry.
        ({"Version": "Min"}, {"Version": "Max", "Profile": "Fast"}, False),
        ({"Version": "Min", "Profile": "Custom"}, {"Version": "Max", "Profile": "Fast"}, False),
        ({"Version": "Max", "Profile": "Fast"}, {"Version": "Min", "Profile": "Custom"}, False),
        ({"Profile": "Fast"}, {"Version": "Min", "Profile": "Custom"}, False),
        # The BMC shows that it is otherwise: its registry is not believed.
        ({"Version": "Min", "Profile": "Fast"}, {"Version": "Mid", "Profile": "Fast"}, False),
    ],
)
def test_two_settings_of_a_profile_that_contradict_each_other_are_refused(
    wanted: Any,
    now: Any,
    refused: bool,
) -> None:
    found = plan(wanted, Seen(now, dependencies=MAKES)).refused
    why = "Version: found 'Min', but Profile is 'Fast', which makes it 'Max'; correct one of them"
    assert found == ((why,) if refused else ())


@pytest.mark.parametrize("name", ["dell_r750", "hpe_dl385", "nvidia_gb200", "dgx_h100"])
def test_no_setting_of_a_captured_machine_is_refused_alone_that_its_registry_allows_and_nothing_locks(
    samples: Path, name: str
) -> None:
    tree = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    shown = (body.get("Attributes") or {} for uri, body in tree.items() if uri.lower().rstrip("/").endswith("/bios"))
    now = max(shown, key=len)
    entries = [body["RegistryEntries"] for body in tree.values() if isinstance(body.get("RegistryEntries"), dict)]
    found = max(entries, key=lambda each: len({row.get("AttributeName") for row in each["Attributes"]} & now.keys()))
    rows = {row["AttributeName"]: row for row in found["Attributes"] if row.get("AttributeName") in now}
    dependencies = found.get("Dependencies") or []
    taken = 0
    for setting, row in rows.items():
        for value in filter(None, (each.get("ValueName") for each in row.get("Value") or ())):
            wanted = {setting: value}
            if not plan(wanted, Seen(now, {}, rows)).refused and not locked(setting, dependencies, {**now, **wanted}):
                assert plan(wanted, Seen(now, {}, rows, dependencies)).refused == ()
                taken += 1
    assert taken > 100


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["Version", "Map", "EQU", "true", "Hidden"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Dependency", "MapFrom", "MapToAttribute", "MapToProperty", "MapFromAttribute", "Type"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(st.lists(st.dictionaries(st.sampled_from(["Dependency", "Type"]), JSON), max_size=4), JSON)
def test_whatever_a_registry_holds_a_sentence_comes_of_it(dependencies: list[dict[str, Any]], value: Any) -> None:
    assert isinstance(locked("Version", dependencies, {"Version": value}), str)
    assert isinstance(freed("Version", dependencies, {"Version": value}), bool)
    assert isinstance(forced("Version", dependencies, {"Version": value}, ["None", "Version"])[1], str)
    assert isinstance(plan({"Version": "1"}, Seen({"Version": "2"}, dependencies=dependencies)).refused, tuple)
