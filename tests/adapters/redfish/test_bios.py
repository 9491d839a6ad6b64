"""BIOS settings: where a vendor keeps what waits for a reset, and what it says of each setting."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish.bios import Bios
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware.bios_jobs import Queue
from fleet_runner.core.firmware.bios_locks import locked
from tests.adapters.redfish.replay import replayed, talk, updating

ROOT = "/redfish/v1"
BIOS = f"{ROOT}/Systems/1/Bios"
KNOWN = {"RegistryEntries": {"Attributes": [{"AttributeName": "SRIOVEnable", "Type": "Enumeration"}, "odd", {}]}}


def captured(samples: Path, name: str) -> dict[str, Any]:
    """Return a captured tree."""
    tree: dict[str, Any] = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    return tree


def machine(waits: Any = None, **bios: Any) -> dict[str, Any]:
    """Return a computer with BIOS settings; where some wait, they are at a resource of their own."""
    tree = updating()
    tree[f"{ROOT}/Systems/1"]["Bios"] = {"@odata.id": BIOS}
    tree[BIOS] = {"@odata.id": BIOS, "Attributes": {"SRIOVEnable": "Disabled", "Boot": 3}, **bios}
    if waits is not None:
        tree[BIOS].setdefault("@Redfish.Settings", {})["SettingsObject"] = {"@odata.id": f"{BIOS}/Settings"}
        tree[f"{BIOS}/Settings"] = {"@odata.id": f"{BIOS}/Settings", **waits}
    return tree


def registries(tree: dict[str, Any], *entries: dict[str, Any]) -> dict[str, Any]:
    """Add registries to a tree."""
    uris = [f"{ROOT}/Registries/{entry['Id']}" for entry in entries]
    tree[ROOT]["Registries"] = {"@odata.id": f"{ROOT}/Registries"}
    tree[f"{ROOT}/Registries"] = {
        "@odata.id": f"{ROOT}/Registries",
        "Members": [{"@odata.id": uri} for uri in uris],
    }
    tree.update({uri: {"@odata.id": uri, **entry} for uri, entry in zip(uris, entries, strict=True)})
    return tree


def test_the_settings_of_a_dgx_are_changed_where_they_wait_with_its_tag(samples: Path) -> None:
    tree = captured(samples, "dgx_h100")
    uri = f"{ROOT}/Systems/DGX/Bios/SD"
    with replayed(tree) as server, talk(server) as bmc:
        bios = Bios(bmc)
        assert bios.attributes() == tree[f"{ROOT}/Systems/DGX/Bios"]["Attributes"]
        assert bios.pending() == {}, "what waits there is all there is, unchanged"
        bios.set({"SRIOVEnable": "Enable"})
        [(where, change)] = server.said("PATCH")
        tags = [headers.get("If-Match") for verb, _, _, headers in server.asked if verb == "PATCH"]
        assert (where, change, tags) == (uri, {"Attributes": {"SRIOVEnable": "Enable"}}, [tree[uri]["@odata.etag"]])
        tree[uri]["Attributes"]["SRIOVEnable"] = "changed"
        assert bios.pending() == {"SRIOVEnable": "changed"}


def test_the_settings_of_a_supermicro_wait_where_only_changes_are_shown(samples: Path) -> None:
    tree = captured(samples, "supermicro_hgx_h100")
    uri = f"{ROOT}/Systems/1/Bios/SD"
    with replayed(tree) as server, talk(server) as bmc:
        bios = Bios(bmc)
        assert len(bios.attributes()) == 379
        assert bios.pending() == {}
        tree[uri]["Attributes"] = {"AES_NI_3C75": "Disable", "ARISupport_0049": "Enabled"}
        assert bios.pending() == {"AES_NI_3C75": "Disable"}
        bios.set({"AES_NI_3C75": "Enable"})
        assert server.said("PATCH") == [(uri, {"Attributes": {"AES_NI_3C75": "Enable"}})]


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ({"SupportedApplyTimes": ["OnReset", "AtMaintenanceWindowStart"]}, {"ApplyTime": "OnReset"}),
        ({"SupportedApplyTimes": ["Immediate"]}, None),
        ({}, None),
    ],
)
def test_a_change_says_when_where_it_can(said: dict[str, Any], when: Any) -> None:
    with replayed(machine({}, **{"@Redfish.Settings": said})) as server, talk(server) as bmc:
        Bios(bmc).set({"SRIOVEnable": "Enabled"})
        [(_, change)] = server.said("PATCH")
    assert change.get("@Redfish.SettingsApplyTime") == when


def test_without_a_place_for_what_waits_the_settings_themselves_are_changed() -> None:
    with replayed(machine()) as server, talk(server) as bmc:
        Bios(bmc).set({"SRIOVEnable": "Enabled"})
        assert server.said("PATCH") == [(BIOS, {"Attributes": {"SRIOVEnable": "Enabled"}})]
        assert Bios(bmc).pending() == {}


def test_a_refused_change_names_the_settings_and_the_bmcs_reason() -> None:
    with replayed(machine({})) as server, talk(server) as bmc:
        server.statuses["PATCH", f"{BIOS}/Settings"] = [400]
        with pytest.raises(BmcRefused, match="answered 400 to the BIOS settings SRIOVEnable, Boot: as told"):
            Bios(bmc).set({"SRIOVEnable": "Enabled", "Boot": 1})


def test_weak_tags_are_made_strong_for_a_bmc_that_wants_them_so() -> None:
    with replayed(machine({"@odata.etag": 'W/"7"'})) as server, talk(server) as bmc:
        server.statuses["PATCH", f"{BIOS}/Settings"] = [412]
        Bios(bmc).set({"SRIOVEnable": "Enabled"})
        tags = [headers["If-Match"] for verb, _, _, headers in server.asked if verb == "PATCH"]
    assert tags == ['W/"7"', '"7"']


def test_a_computer_without_settings_says_so() -> None:
    tree = machine()
    with replayed(tree) as server, talk(server) as bmc:
        tree[BIOS].pop("Attributes")
        with pytest.raises(BmcError, match="shows no Attributes; expected them once the computer has booted"):
            Bios(bmc).attributes()
        assert Bios(bmc).pending() == {}
        tree[f"{ROOT}/Systems/1"].pop("Bios")
        with pytest.raises(BmcError, match="its system has no link to them"):
            Bios(bmc).attributes()


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("BiosAttributeRegistry.v1_0_0", {"Id": "BiosAttributeRegistry", "Registry": "BiosAttributeRegistry.1.0.0"}),
        ("BiosAttributeRegistry113.1.1.3", {"Id": "BiosAttributeRegistry113.en-US.1.1.3"}),
        ("BiosAttributeRegistry.v1_0_3", {"Id": "BiosAttributeRegistry.v1_0_3"}),
        ("BiosAttributeRegistryA43.v1_2_40", {"Id": "BiosAttributeRegistryA43.v1_2_40"}),
        ("BiosAttributeRegistry", {"Id": "one", "RegistryPrefix": "BiosAttributeRegistry"}),
        ("LenovoBios.1.2", {"Id": "LenovoBios"}),
        ("BiosAttributeRegistryU54.v1_4_20", {"Id": "BiosAttributeRegistryU54"}),
    ],
)
def test_what_is_known_of_settings_is_found_by_the_registrys_name_as_vendors_write_it(name: str, entry: Any) -> None:
    """Supermicro's file lies outside of /redfish; nobody is asked for it but the BMC itself."""
    location = [{"Language": "zh", "Uri": "/registries/zh.json"}, {"Language": "en", "Uri": "/registries/en.json"}]
    base = {"Id": "Base.1.12.0", "Registry": "Base.1.12.0", "Location": [{"Uri": "/registries/zh.json"}]}
    tree = registries(machine(AttributeRegistry=name), base, {**entry, "Location": location})
    with replayed(tree) as server, talk(server) as bmc:
        server.raw["/registries/en.json"] = json.dumps(KNOWN).encode()
        assert Bios(bmc).registry() == {"SRIOVEnable": {"AttributeName": "SRIOVEnable", "Type": "Enumeration"}}


@pytest.mark.parametrize(("versions", "found"), [(["1_0_0"], True), (["1_0_0", "1_0_1"], False)])
def test_a_registry_of_another_version_counts_where_it_is_the_only_one(versions: list[str], found: bool) -> None:
    """As a Dell R750 was captured; of several, nobody could say which one is meant."""
    entries = [
        {"Id": f"BiosAttributeRegistry.v{each}", "Registry": "BiosAttributeRegistry1.0", **KNOWN} for each in versions
    ]
    tree = registries(machine(AttributeRegistry="BiosAttributeRegistry.v1_0_3"), *entries)
    with replayed(tree) as server, talk(server) as bmc:
        assert bool(Bios(bmc).registry()) is found


def test_a_registry_that_is_listed_itself_is_read_as_it_is() -> None:
    tree = registries(
        machine(AttributeRegistry="BiosAttributeRegistry.v1"), {"Id": "BiosAttributeRegistry.v1", **KNOWN}
    )
    with replayed(tree) as server, talk(server) as bmc:
        assert list(Bios(bmc).registry()) == ["SRIOVEnable"]


@pytest.mark.parametrize(
    "location",
    [None, [], "odd", [{"Uri": "https://elsewhere.example/registries/en.json"}], [{"Uri": "/absent.json"}], [{}]],
)
def test_a_registry_that_cannot_be_had_is_none(location: Any) -> None:
    name = "BiosAttributeRegistry.v1"
    tree = registries(machine(AttributeRegistry=name), {"Id": name, "Location": location})
    with replayed(tree) as server, talk(server) as bmc:
        assert Bios(bmc).registry() == {}


def test_a_real_machine_whose_registries_were_not_captured_has_none(samples: Path) -> None:
    for name in ("dgx_h100", "supermicro_hgx_h100"):
        with replayed(captured(samples, name)) as server, talk(server) as bmc:
            assert Bios(bmc).registry() == {}


def test_a_real_registry_of_a_dgx_tells_each_setting(samples: Path) -> None:
    tree = captured(samples, "dgx_h100")
    file = "BiosAttributeRegistry113.en-US.1.1.3.json"
    entry = {
        "Id": "BiosAttributeRegistry113.1.1.3",
        "Location": [{"Language": "en-US", "Uri": f"{ROOT}/Registries/{file}"}],
    }
    with replayed(registries(tree, entry)) as server, talk(server) as bmc:
        known, now = Bios(bmc).registry(), Bios(bmc).attributes()
    assert set(now) - set(known) == {"BootOrder"}
    assert known["TpmSupport"]["Type"] == "Enumeration"


def test_what_a_registry_says_that_settings_make_of_others_is_read_with_it_once() -> None:
    depends = [{"Type": "Map", "Dependency": {"MapToAttribute": "Boot"}}, "odd"]
    entries = {"RegistryEntries": {**KNOWN["RegistryEntries"], "Dependencies": depends}}
    with replayed(registries(machine(AttributeRegistry="R"), {"Id": "R", **entries})) as server, talk(server) as bmc:
        bios = Bios(bmc)
        assert bios.dependencies() == depends[:1]
        assert list(bios.registry()) == ["SRIOVEnable"]
        assert sum(uri.endswith("/Registries/R") for _, uri, *_ in server.asked) == 1


def test_a_dgx_hides_what_its_redfish_settings_lock(samples: Path) -> None:
    """Its registry, as it was captured."""
    file = f"{ROOT}/Registries/BiosAttributeRegistry113.en-US.1.1.3.json"
    depends = captured(samples, "dgx_h100")[file]["RegistryEntries"]["Dependencies"]
    assert locked("RedfishVersionBmc", depends, {"RedfishEnable": "Disabled"}).startswith(
        "found it hidden while Redfish"
    )
    assert locked("RedfishVersionBmc", depends, {"RedfishEnable": "Enabled"}) == ""


def test_a_registry_without_dependencies_has_none() -> None:
    with replayed(registries(machine(AttributeRegistry="R"), {"Id": "R", **KNOWN})) as server, talk(server) as bmc:
        assert Bios(bmc).dependencies() == []


def test_jobs_are_those_of_the_settings_object_and_of_the_bios_alone() -> None:
    jobs = f"{ROOT}/Managers/1/Jobs"
    link = {"Oem": {"Dell": {"Jobs": {"@odata.id": jobs}}}}
    tree = machine(link)
    mine = {"Id": "JID_2", "JobState": "Running", "JobType": "BIOSConfiguration", "PercentComplete": 34}
    other = {"Id": "JID_1", "JobState": "Running", "JobType": "FirmwareUpdate"}
    tree[jobs] = {"@odata.id": jobs, "Members": [{"@odata.id": f"{jobs}/{each['Id']}"} for each in (mine, other)]}
    tree |= {f"{jobs}/{each['Id']}": {"@odata.id": f"{jobs}/{each['Id']}", **each} for each in (mine, other)}
    with replayed(tree) as server, talk(server) as bmc:
        queue = Bios(bmc).queue()
        assert queue.running is not None
        assert (queue.needed, len(queue.jobs), queue.running.told) == (True, 1, "job JID_2 (Running, 34 %)")
        Bios(bmc).make_job()
        assert server.said("POST")[-1] == (jobs, {"TargetSettingsURI": f"{BIOS}/Settings"})
        server.statuses["POST", jobs] = [400]
        with pytest.raises(BmcRefused, match="answered 400 to a job for the BIOS settings that wait"):
            Bios(bmc).make_job()


@pytest.mark.parametrize("waits", [{}, None])
def test_most_bmcs_have_no_jobs(waits: Any) -> None:
    with replayed(machine(waits)) as server, talk(server) as bmc:
        assert Bios(bmc).queue() == Queue()
        with pytest.raises(BmcError, match="links to no jobs"):
            Bios(bmc).make_job()


def test_what_the_host_did_not_do_is_told() -> None:
    messages = [{"MessageId": "iLO.2.14.PropertyNotWritable", "MessageArgs": ["Boot"]}]
    with replayed(machine(**{"@Redfish.Settings": {"Messages": messages}})) as server, talk(server) as bmc:
        assert Bios(bmc).complaints() == ("PropertyNotWritable Boot",)
