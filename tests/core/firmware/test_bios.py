"""BIOS settings: read with every slip named, compared in the BMC's own types, held against its registry."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.bios import Plan, Seen, pending, plan, read, told
from fleet_runner.core.firmware.bios_values import TYPES, UNQUOTED, Unfit, cast, fit, same
from fleet_runner.core.firmware.catalogue import CatalogueError

TEXTS = st.text("aAbB10 -+", max_size=4)
WANTED = st.booleans() | st.integers() | TEXTS | st.sampled_from(["true", "False", "007", "-0", "1" * 5000])
OBSERVED = WANTED | st.none() | st.floats() | st.lists(st.integers(), max_size=1)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "Type": st.sampled_from([*TYPES, "Password", "Colour", 7]),
        "ReadOnly": st.booleans() | st.just("no"),
        "Immutable": st.booleans(),
        "Value": st.lists(
            st.just("x") | st.fixed_dictionaries({}, optional={"ValueName": OBSERVED, "ValueDisplayName": OBSERVED})
        )
        | OBSERVED,
        "LowerBound": OBSERVED,
        "UpperBound": OBSERVED,
        "ScalarIncrement": OBSERVED,
        "MinLength": OBSERVED,
        "MaxLength": OBSERVED,
    },
)
NAMES = st.sampled_from(["SRIOV", "sriov", "SRIOV_00A1", "Boot", "Fan"])

ENABLE = {
    "Type": "Enumeration",
    "Value": [{"ValueName": "Enabled", "ValueDisplayName": "On "}, {"ValueName": "Disabled"}],
}
QUOTED = "a text as the BMC writes it, in quotes"
PASSWORD = "no password: it could not be read back, and would lie in a file that many can read"
PAYLOAD = {"Type": "Integer", "LowerBound": 128, "UpperBound": 4096, "ScalarIncrement": 128}


def wrong(profile: Any) -> list[str]:
    """Return everything that is wrong with a profile."""
    with pytest.raises(CatalogueError) as caught:
        read(profile)
    return [str(problem) for problem in caught.value.problems]


def test_settings_read_as_they_are_written() -> None:
    attributes = {"SRIOVEnable": "Enabled", "MaxPayload": 512, "QuietBoot": False, "AssetText": ""}
    assert read({"bios": {"attributes": attributes}, "firmware": "somebody else's"}) == attributes
    assert read({"bios": {"attributes": {}}}) == read({}) == {}


def test_every_slip_is_named_at_once() -> None:
    bad = {"A": None, "B": 1.5, "C": ["x"], "D": "two\nlines", "E": "x" * 4001, 7: "x", "": "x", "Good": "x"}
    assert [line.partition(":")[0] for line in wrong({"bios": {"attributes": bad, "atributes": {}}})] == [
        "fleet_profile.bios.atributes",
        *(f"fleet_profile.bios.attributes.{name}" for name in "ABCDE"),
        'fleet_profile.bios.attributes["7"]',
        'fleet_profile.bios.attributes[""]',
    ]


@pytest.mark.parametrize("section", [None, [], "x", 7])
def test_a_section_that_is_none_is_wrong(section: object) -> None:
    assert wrong({"bios": section}) == [f"fleet_profile.bios: found {section!r}, expected a mapping"]
    assert wrong({"bios": {"attributes": section}}) == [
        f"fleet_profile.bios.attributes: found {section!r}, expected a mapping"
    ]


def test_a_section_without_settings_is_wrong() -> None:
    """Whoever writes one and no setting has forgotten something; who wants none writes none, or {}."""
    assert wrong({"bios": {}}) == ["fleet_profile.bios.attributes: found nothing, expected it to be given"]


@given(OBSERVED, WANTED)
def test_what_is_the_same_is_so_in_value_and_type(observed: object, value: bool | int | str) -> None:
    if same(observed, value):
        whole = int(observed) if isinstance(observed, float) else observed  # a BMC's 0.0 is "0"
        assert str(whole).lower() == str(value).lower() or observed == value
        assert isinstance(observed, bool | int | float | str)


@given(WANTED)
def test_a_value_is_the_same_as_itself(value: bool | int | str) -> None:
    assert same(value, value)


@pytest.mark.parametrize(
    ("observed", "value", "equal"),
    [
        (True, "True", True), ("True", True, True), ("true", True, True), ("Enabled", True, False), (1, True, False),
        (True, 1, False), ("1", 1, True), (1, "1", True), (1.0, 1, True), (1.5, 1, False), ("01", 1, False),
        (8, "010", False), ("on", "On", False), (None, "", False), ([1], 1, False), (0, False, False),
        ("0", False, False), (True, "yes", False), ("-0", 0, False), (-5, "-5", True),
    ],
)  # fmt: skip
def test_values_are_compared_in_the_type_that_the_bmc_has_for_them(
    observed: object, value: bool | int | str, equal: bool
) -> None:
    assert same(observed, value) is equal


@given(WANTED, OBSERVED, st.none() | ROWS)
def test_what_is_sent_is_of_the_bmc_s_type_and_allowed(
    value: bool | int | str, observed: object, row: dict[str, Any] | None
) -> None:
    """Whatever a registry holds, nothing but Unfit comes of it."""
    try:
        found = fit(value, observed, row)
    except Unfit:
        return
    assert same(found, value)
    assert (row or {}).get("ReadOnly") is not True
    if observed is not None:
        kind = int if isinstance(observed, float) else type(observed)
        assert type(found) is kind
    else:
        assert type(found) is TYPES[(row or {})["Type"]]


@given(WANTED, st.sampled_from([bool, int, str]), st.lists(TEXTS, max_size=2))
def test_a_cast_is_of_the_type_or_refused(value: bool | int | str, kind: type, known: list[str]) -> None:
    try:
        found = cast(value, kind, known)
    except Unfit:
        return
    assert type(found) is kind
    assert found in known or str(found).lower() == str(value).lower()


@pytest.mark.parametrize(
    ("value", "observed", "row", "why"),
    [
        ("Enable", "Disabled", ENABLE, "one of 'Enabled', 'Disabled'; 'Enabled' is the nearest"),
        ("Zebra", "Disabled", ENABLE, "one of 'Enabled', 'Disabled'"),
        ("On", "Disabled", ENABLE, "'Enabled', which people are shown as 'On'"),
        (True, "Disabled", ENABLE, f"{QUOTED} ({UNQUOTED}), like 'Enabled', 'Disabled'"),
        (True, "Off", None, f"{QUOTED} ({UNQUOTED}), like 'Off'"),
        (5, "Auto", None, f"{QUOTED}, like 'Auto'"),
        (5, None, {"Type": "String"}, QUOTED),
        (5, "1", {"Type": "Enumeration", "Value": [{"ValueName": str(each)} for each in range(12, 1, -1)]},
         ""),
        (1, "2", {"Type": "Enumeration", "Value": [{"ValueName": str(each)} for each in range(12, 1, -1)]},
         "one of '12', '11', '10', '9', '8', '7', '6', '5' and 3 more; '12' is the nearest"),
        ("x", "x", {"ReadOnly": True}, "it to stay 'x', because the BMC lets nobody change it"),
        ("x", "y", {"Immutable": True}, "it to stay 'y', because the BMC lets nobody change it"),
        ("x", None, {"Type": "Password"}, PASSWORD),
        ("x", None, None, "no request for it: the BMC reports None, which no value can be compared with"),
        ("x", [1], {"Type": "Colour"}, "no request for it: the BMC reports [1], which no value can be compared with"),
        (64, 256, PAYLOAD, "a whole number of at least 128 and at most 4096"),
        (8192, 256, PAYLOAD, "a whole number of at least 128 and at most 4096"),
        (-1, 256, {"LowerBound": 0}, "a whole number of at least 0"),
        (300, 256, PAYLOAD, "128 and so on in steps of 128"),
        ("x" * 33, "", {"MaxLength": 32}, "a text of at most 32 characters"),
        ("x", "", {"MinLength": 2}, "a text of at least 2 characters"),
        ("often", 256, PAYLOAD, "a whole number, as the BMC reports it"),
        (True, 256, PAYLOAD, "a whole number, as the BMC reports it"),
        ("on", False, None, "true or false, as the BMC reports it"),
        (1, False, None, "true or false, as the BMC reports it"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_what_would(value: bool | int | str, observed: object, row: Any, why: str) -> None:
    if not why:
        assert fit(value, observed, row) == str(value)
        return
    with pytest.raises(Unfit) as caught:
        fit(value, observed, row)
    assert str(caught.value) == why


SEEN = st.builds(
    Seen,
    st.dictionaries(NAMES, OBSERVED, max_size=3),
    st.dictionaries(NAMES, OBSERVED, max_size=3),
    st.dictionaries(NAMES, ROWS, max_size=3),
)


@given(st.dictionaries(NAMES, WANTED, max_size=4), SEEN)
def test_every_setting_is_settled_sent_waiting_or_refused(wanted: dict[str, Any], seen: Seen) -> None:
    """And once what is sent waits and has come into force, nothing is left to do."""
    found = plan(wanted, seen)
    named = [line.partition(":")[0] for line in found.refused]
    assert sorted([*found.changes, *found.waiting, *found.settled, *named]) == sorted(wanted)
    assert set(found.settled).isdisjoint(found.wrong)
    assert set(found.waiting) <= set(found.wrong)
    assert all(same(seen.attributes.get(name), value) is (name not in found.wrong) for name, value in wanted.items())
    asked = {name: value for name, value in wanted.items() if name not in named}
    later = plan(asked, Seen(seen.attributes, {**seen.pending, **found.changes}, seen.registry))
    assert (later.changes, later.refused) == ({}, ())
    then = plan(asked, Seen({**seen.attributes, **found.waiting, **found.changes}, {}, seen.registry))
    assert (then.changes, then.waiting, then.wrong) == ({}, {}, {})


def test_a_setting_that_somebody_changed_for_the_next_reset_is_sent_back() -> None:
    found = plan({"SRIOV": "Enabled"}, Seen({"SRIOV": "Enabled"}, {"SRIOV": "Disabled"}))
    assert found == Plan(changes={"SRIOV": "Enabled"})


def test_what_else_waits_is_told_without_its_values() -> None:
    """There could be passwords among them."""
    found = plan({"A": 1}, Seen({"A": 1}, {"Z": "secret", "Y": 1, "X": 2, "W": 3}))
    assert found.notes == (
        "W, X, Y and 1 more will change at the next reset too, which the profile does not ask for",
    )
    assert plan({"A": 1}, Seen({"A": 1}, {"Z": 1})).notes[0].startswith("Z will")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SRIOVSupport", "; 'SRIOVSupport_00A1' is the nearest"),
        ("SRIOVSuport_00A1", "; 'SRIOVSupport_00A1' is the nearest"),
        ("Fan", ""),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_one(name: str, hint: str) -> None:
    found = plan(
        {name: "Enabled"}, Seen({"SRIOVSupport_00A1": "Disabled", "SRIOVOther": 1}, {}, {"MaxPayload": PAYLOAD})
    )
    assert found.refused == (f"{name}: found no such setting, expected one of the 3 of this BIOS{hint}",)


def test_a_setting_that_only_the_registry_knows_is_sent_in_its_type() -> None:
    assert plan({"MaxPayload": "256"}, Seen({}, {}, {"MaxPayload": PAYLOAD})).changes == {"MaxPayload": 256}


def test_what_waits_is_found_in_both_forms_of_settings_objects() -> None:
    now = {"A": 1, "B": "x"}
    assert pending(now, {"A": 2}) == pending(now, {"A": 2, "B": "x"}) == {"A": 2}
    assert pending(now, None) == pending(now, {}) == {}


def test_many_settings_are_told_in_one_short_sentence() -> None:
    assert told({"A": 1, "B": "x"}) == "A 1, B 'x'"
    assert told(dict.fromkeys("ABCDE", True)) == "A True, B True, C True and 2 more"


@pytest.fixture(scope="module")
def dgx(samples: Path) -> Seen:
    """What a DGX H100 says, with its registry."""
    tree = json.loads(gzip.decompress((samples / "redfish" / "dgx_h100.json.gz").read_bytes()))
    bios = tree["/redfish/v1/Systems/DGX/Bios"]["Attributes"]
    registry = next(body for body in tree.values() if "AttributeRegistry." in str(body.get("@odata.type")))
    rows = {row["AttributeName"]: row for row in registry["RegistryEntries"]["Attributes"]}
    return Seen(bios, pending(bios, tree["/redfish/v1/Systems/DGX/Bios/SD"]["Attributes"]), rows)


def test_all_that_a_dgx_reports_is_settled_for_it(dgx: Seen) -> None:
    wanted = {name: value for name, value in dgx.attributes.items() if value is not None}
    found = plan(wanted, dgx)
    assert len(found.settled) == len(wanted) > 200
    assert found == Plan(settled=found.settled)


def test_all_that_a_dgx_s_registry_allows_can_be_sent_and_nothing_else(dgx: Seen) -> None:
    for name, row in dgx.registry.items():
        names = [each["ValueName"] for each in row.get("Value", ()) if each["ValueName"]]
        for value in names:
            found = plan({name: value}, dgx)
            assert found.changes == {name: value} or found.settled == (name,)
        if names:
            assert "one of" in plan({name: "No such value"}, dgx).refused[0]
    assert "no password" in plan({"AdminPassword": "x"}, dgx).refused[0]
    assert plan({"PxeBootWaitTime": 6}, dgx).refused == (
        "PxeBootWaitTime: found 6, expected a whole number of at least 0 and at most 5",
    )
    assert "'TpmSupport' is the nearest" in plan({"TPMSupport": "Enable"}, dgx).refused[0]


def test_a_supermicro_without_a_registry_is_compared_in_its_own_types(samples: Path) -> None:
    tree = json.loads(gzip.decompress((samples / "redfish" / "supermicro_hgx_h100.json.gz").read_bytes()))
    seen = Seen(tree["/redfish/v1/Systems/1/Bios"]["Attributes"])
    wanted = {name: value for name, value in seen.attributes.items() if value is not None}
    assert len(plan(wanted, seen).settled) == len(wanted) > 100
    assert plan({"BitsPerSecond_008D": 9600}, seen).changes == {"BitsPerSecond_008D": "9600"}
    assert "which no value can be compared with" in plan({"BootURI_2953": "x"}, seen).refused[0]
    assert "in quotes" in plan({"BootupNumLockState_002F": False}, seen).refused[0]
    assert "'Above4GDecoding_0041' is the nearest" in plan({"Above4GDecoding": "Enabled"}, seen).refused[0]


@pytest.mark.parametrize(
    ("file", "name", "system"),
    [("dgxh100", "dgx_h100", "DGX"), ("sys_821ge_tnhr", "supermicro_hgx_h100", "1")],
)
def test_the_settings_of_our_device_types_are_those_of_real_ones(
    project: Path, samples: Path, file: str, name: str, system: str
) -> None:
    group = project / "inventory" / "group_vars" / f"device_type_{file}.yml"
    wanted = read(yaml.safe_load(group.read_text("utf-8"))["fleet_profile"])
    tree = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    assert plan(wanted, Seen(tree[f"/redfish/v1/Systems/{system}/Bios"]["Attributes"])) == Plan(settled=(*wanted,))
    assert wanted
