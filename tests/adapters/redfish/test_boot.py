"""The next boot alone from the network, as each maker's BMC takes it, and read again afterwards."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, boot
from fleet_runner.adapters.redfish.host_settings import HostSettings
from fleet_runner.adapters.redfish.resources import Resources
from fleet_runner.adapters.redfish.wire import Connection
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware.boot_settings import FIRST
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.lab.redfish.talking import wait
from tests.reconcile.firmware.driver.child import QUICK

SYSTEM = "/redfish/v1/Systems/1"
CREDENTIALS = ("admin", "secret")
LISTED = "BootSourceOverrideTarget@Redfish.AllowableValues"
HTTP4 = "PciRoot(0x7)/Pci(0x1,0x1)/MAC(B83FD2D7F74A,0x1)/IPv4(0.0.0.0)/Uri()"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A BMC that does not show what it took is looked at again at once."""
    monkeypatch.setattr(boot, "PAUSE", 0.0)


@contextmanager
def a_bmc(tree: Path = OUR_OWN, **said: Any) -> Iterator[tuple[Emulator, Bmc]]:
    """Serve a tree, and open it."""
    emulated = Emulator(load(tree), credentials=CREDENTIALS, pace=Durations.quick(), **said)
    with emulated as served, Bmc(served.url, *CREDENTIALS) as bmc:
        yield served, bmc


def asked(served: Emulator) -> list[dict[str, Any]]:
    """Return what was taken as boot settings."""
    return [dict(event["boot"]) for event in served.events("boot_override")]


@pytest.mark.parametrize("name", ["", "dell_r750", "hpe_dl385", "nvidia_gb200", "dgx_h100", "supermicro_hgx_h100"])
def test_every_captured_machine_boots_once_from_the_network(request: pytest.FixtureRequest, name: str) -> None:
    tree = request.getfixturevalue("samples") / "redfish" / f"{name}.json.gz" if name else OUR_OWN
    with a_bmc(tree) as (served, bmc):
        bmc.boot_once("Pxe")
        assert asked(served)[-1]["BootSourceOverrideTarget"] == "Pxe"
        bmc.power("ForceRestart")
        wait(lambda: served.events("host_reset"))
        [start] = served.events("host_reset")
        assert (start["override"]["BootSourceOverrideEnabled"], start["override"]["BootSourceOverrideTarget"]) == (
            "Once", "Pxe",
        )  # fmt: skip


@pytest.mark.parametrize("name", ["hpe_dl385", "dgx_h100", "supermicro_hgx_h100"])
def test_captured_machines_boot_once_over_http(samples: Path, name: str) -> None:
    with a_bmc(samples / "redfish" / f"{name}.json.gz") as (served, bmc):
        bmc.boot_once("UefiHttp", "http://10.0.0.1/loader/snponly.efi")
        assert asked(served)[-1]["HttpBootUri"] == "http://10.0.0.1/loader/snponly.efi"


def test_a_captured_dell_boots_over_http_as_its_bios_says(samples: Path) -> None:
    with a_bmc(samples / "redfish" / "dell_r750.json.gz") as (served, bmc):
        address = "http://10.0.0.1/loader/snponly.efi"
        bmc.can_boot_once("UefiHttp", address)
        with pytest.raises(BmcError, match="a Dell cannot carry the proof: use boot_proof none, or pxe"):
            bmc.can_boot_once("UefiHttp", address, proof=True)
        assert asked(served) == []
        bmc.boot_once("UefiHttp", address)  # its HttpDev1Uri is empty: DHCP says what to load
        assert asked(served) == [{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp"}]


def test_a_dell_with_another_address_in_its_bios_says_so_before_anything_is_done() -> None:
    attributes = {"HttpDev1EnDis": "Enabled", "HttpDev1Uri": "http://10.0.0.9/other.efi"}
    changes = {"/redfish/v1": {"Vendor": "Dell"}, f"{SYSTEM}/Bios": {"Attributes": attributes}}
    with a_bmc(changes=changes) as (served, bmc):
        for ask in (bmc.can_boot_once, bmc.boot_once):
            with pytest.raises(BmcError, match="HttpDev1Uri is not the address"):
                ask("UefiHttp", "http://10.0.0.1/loader/snponly.efi")
        assert asked(served) == []
        bmc.can_boot_once("Pxe")
        bmc.can_boot_once("")


@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.parametrize("maker", ["Dell", "Other"])
def test_bios_settings_that_cannot_be_read_keep_no_boot_over_http_away(status: int, maker: str) -> None:
    rule = {"when": {"event": "request", "uri": f"{SYSTEM}/Bios"}, "what": {"answer": {"status": status}}}
    with a_bmc(rules=[rule], changes={"/redfish/v1": {"Vendor": maker}}) as (served, bmc):
        bmc.boot_once("UefiHttp")
        assert len(asked(served)) == 1


def test_a_bmc_that_boots_over_http_by_a_device_gets_its_path_first() -> None:
    options = f"{SYSTEM}/BootOptions"
    device = {
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "UefiTarget"],
        "UefiTargetBootSourceOverride": "None",
        "BootOptions": {"@odata.id": options},
        "HttpBootUri": None,
    }
    changes = {
        "/redfish/v1": {"Vendor": "HPE"},
        SYSTEM: {"Boot": device},
        options: {"Members": [{"@odata.id": f"{options}/Boot0001"}]},
        f"{options}/Boot0001": {"UefiDevicePath": HTTP4},
    }
    with a_bmc(changes=changes) as (served, bmc):
        bmc.boot_once("UefiHttp")
        once = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiTarget"}
        path = {"UefiTargetBootSourceOverride": HTTP4}
        assert asked(served) == [path, {**once, **path}]


@pytest.mark.parametrize(
    ("name", "mac", "path"),
    [
        ("hpe_dl385", "88e9a48742c8", "PciRoot(0x2)/Pci(0x3,0x1)/Pci(0x0,0x0)/MAC(88E9A48742C8,0x1)/IPv4(0.0.0.0)"),
        ("dgx_h100", "6cfe54411578", "PciRoot(0x160)/Pci(0x5,0x0)/Pci(0x0,0x0)/MAC(6CFE54411578,0x1)/IPv4(0.0.0.0"),
    ],
)
def test_captured_machines_boot_from_the_card_that_the_design_names(
    samples: Path, name: str, mac: str, path: str
) -> None:
    with a_bmc(samples / "redfish" / f"{name}.json.gz") as (served, bmc):
        assert bmc.can_boot_once("Pxe", "", mac) == ""
        assert asked(served) == []
        bmc.boot_once("Pxe", "", mac)
        assert asked(served)[-1]["BootSourceOverrideTarget"] == "UefiTarget"
        assert asked(served)[-1]["UefiTargetBootSourceOverride"].startswith(path)


def test_a_captured_dgx_gets_the_card_that_the_design_names_to_the_front(samples: Path) -> None:
    with a_bmc(samples / "redfish" / "dgx_h100.json.gz") as (_, bmc):
        wanted = {FIRST: "network"}
        assert HostSettings(bmc, wanted, "6cfe54411578").plan().changes == wanted
        [(uri, sent)] = HostSettings(bmc, wanted, "6cfe54411578").requests(wanted)
        assert (uri, sent["Boot"]["BootOrder"][0]) == ("/redfish/v1/Systems/DGX/SD", "Boot000A")


@pytest.mark.parametrize("name", ["dell_r750", "nvidia_gb200", "supermicro_hgx_h100"])
def test_where_a_captured_machine_takes_no_card_that_is_told_and_it_boots_as_ever(samples: Path, name: str) -> None:
    with a_bmc(samples / "redfish" / f"{name}.json.gz") as (served, bmc):
        assert bmc.can_boot_once("Pxe", "", "6cfe54411578").startswith("the firmware chooses the network card")
        bmc.boot_once("Pxe", "", "6cfe54411578")
        assert asked(served)[-1]["BootSourceOverrideTarget"] == "Pxe"


def test_a_captured_hpe_gets_its_boot_order_in_the_settings_object_of_its_bios(samples: Path) -> None:
    """In force after the next start, and known while it waits."""
    with a_bmc(samples / "redfish" / "hpe_dl385.json.gz") as (served, bmc):
        host = HostSettings(bmc, {FIRST: "network"}, "88e9a48742c8")
        assert host.plan().changes == {FIRST: "network"}
        [(uri, sent)] = host.requests({FIRST: "network"})
        assert uri == "/redfish/v1/systems/1/bios/oem/hpe/boot/settings/"
        assert sent["PersistentBootConfigOrder"][0] == "NIC.Slot.1.1.IPv4"
        host.set({FIRST: "network"})
        assert host.plan().waiting == {FIRST: "network"}
        bmc.power("ForceRestart")
        wait(lambda: served.events("host_reset"))
        assert host.plan().settled == (FIRST,)


def test_a_refused_boot_order_has_the_tool_of_its_maker(samples: Path) -> None:
    rule = {"when": {"event": "request", "method": "PATCH"}, "what": {"answer": {"status": 405}}}
    with a_bmc(samples / "redfish" / "supermicro_hgx_h100.json.gz", rules=[rule]) as (_, bmc):
        host = HostSettings(bmc, {FIRST: "network"})
        with pytest.raises(
            BmcRefused, match=r"405 to the boot order: .*; Supermicro's SUM or SAA may change it"
        ) as caught:
            host.set({FIRST: "network"})
        assert caught.value.status == 405


def later(boot: dict[str, Any], system: dict[str, Any]) -> dict[str, Any]:
    """Return a system whose settings object has a `Boot` of its own."""
    uri = f"{SYSTEM}/Later"
    settings = {"@Redfish.Settings": {"SettingsObject": {"@odata.id": uri}}, "Boot": system}
    return {SYSTEM: settings, uri: {"@odata.id": uri, "Boot": boot}}


def test_a_settings_object_of_the_boot_order_alone_takes_no_override() -> None:
    """Lenovo's; what its system does not list is refused before anything is sent."""
    changes = later({"BootOrder": ["Boot0003", "Boot0002"]}, {LISTED: ["None", "Pxe", "Cd", "UefiTarget"]})
    with a_bmc(changes=changes) as (served, bmc):
        bmc.boot_once("Pxe")
        assert [event["uri"] for event in served.events("boot_override")] == [SYSTEM]
        with pytest.raises(BmcError, match="boots over HTTP by a device alone"):
            bmc.can_boot_once("UefiHttp")
        bmc.power("ForceRestart")
        wait(lambda: served.events("host_reset"))
        assert served.events("host_reset")[0]["override"]["BootSourceOverrideTarget"] == "Pxe"


def test_a_settings_object_takes_a_target_that_its_system_alone_lists() -> None:
    """A BlueField's."""
    own = {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "UefiHttp", LISTED: ["None", "Pxe"]}
    with a_bmc(changes=later(own, {LISTED: ["None", "UefiHttp"]})) as (served, bmc):
        bmc.boot_once("UefiHttp", "http://10.0.0.1/loader/snponly.efi")
        assert [event["uri"] for event in served.events("boot_override")] == [f"{SYSTEM}/Later"]
        with pytest.raises(BmcError, match="can boot from None, Pxe, UefiHttp, not Cd"):
            bmc.can_boot_once("Cd")


def test_a_supermicro_that_falls_back_to_another_mode_is_told_its_own() -> None:
    with a_bmc(changes={"/redfish/v1": {"Vendor": "Supermicro"}}) as (served, bmc):
        bmc.boot_once("Pxe")
        assert [each.get("BootSourceOverrideMode") for each in asked(served)] == [None, "UEFI"]


def test_a_bmc_that_refuses_the_mode_is_asked_without_it() -> None:
    modes = {"BootSourceOverrideMode": "Legacy", "BootSourceOverrideMode@Redfish.AllowableValues": ["Legacy", "UEFI"]}
    with a_bmc(changes={"/redfish/v1": {"Vendor": "HPE"}, SYSTEM: {"Boot": modes}}) as (served, bmc):
        bmc.boot_once("UefiHttp")
        assert asked(served) == [{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp"}]


def test_a_bmc_that_forgets_it_while_the_host_is_off_is_told_and_nothing_is_switched() -> None:
    with a_bmc(habits=BmcBehaviour(loses_override_while_off=True)) as (served, bmc):
        bmc.power("ForceOff")
        wait(lambda: served.power == "Off")
        why = (
            "took the boot override Pxe, and shows BootSourceOverrideEnabled 'Disabled', BootSourceOverrideTarget 'N"
        )
        with pytest.raises(BmcError, match=why):
            bmc.boot_once("Pxe")
        with pytest.raises(BmcError, match=r"; the node is left switched off$"):
            bmc.boot_once("Pxe")
        assert served.events("host_reset") == []


def test_what_a_bmc_refuses_without_having_done_it_is_told() -> None:
    rule = {"when": {"event": "request", "method": "PATCH"}, "what": {"answer": {"status": 400}}}
    with a_bmc(rules=[rule]) as (served, bmc):
        with pytest.raises(BmcRefused, match="answered 400 to the boot override Pxe"):
            bmc.boot_once("Pxe")
        assert asked(served) == []


def test_what_a_bmc_refuses_although_it_did_it_counts_as_done() -> None:
    """ansible-collections/community.general 5091: a 13th generation Dell."""
    rule = {"when": {"event": "request", "method": "PATCH", "nth": 2}, "what": {"answer": {"status": 400}}}
    with a_bmc(rules=[rule]) as (served, bmc):
        bmc.boot_once("Pxe")
        bmc.boot_once("Pxe")
        assert len(asked(served)) == 1


UEFI = {"BootSourceOverrideMode": "UEFI"}
ONCE = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}
NONE = {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}
ALWAYS = {"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Pxe"}


class Odd(Resources):
    """A BMC that takes everything and makes of it what a test says, at one place or another."""

    def __init__(
        self, shown: dict[str, dict[str, Any]], makes: Callable[[Mapping[str, Any]], dict[str, Any]]
    ) -> None:
        super().__init__(Connection("http://127.0.0.1:1", CREDENTIALS, verify=False, limits=QUICK))
        self.bodies: dict[str, dict[str, Any]] = {uri: {"Boot": {**UEFI, **body}} for uri, body in shown.items()}
        self.makes = makes
        self.sent: list[dict[str, Any]] = []

    def find(self, uri: str | None) -> dict[str, Any] | None:
        """Return what is shown."""
        return self.bodies.get(str(uri))

    def patch(self, uri: str, change: dict[str, Any], what: str) -> Any:
        """Take a change."""
        assert what
        self.sent.append(change["Boot"])
        self.bodies[uri] = {"Boot": {**self.bodies[uri]["Boot"], **self.makes(change["Boot"])}}

    def boot(self) -> None:
        """Ask for one boot from the network; a second place is a settings object."""
        first, *second = self.bodies
        settings = {"@Redfish.Settings": {"SettingsObject": {"@odata.id": second[0]}}} if second else {}
        boot.boot_once(self, (first, settings), ("Pxe", "", ""), lambda _: None)


def test_a_bmc_that_drops_a_request_without_a_mode_and_leaves_its_own_is_asked_once_more() -> None:
    """bmc-toolbox/bmclib 459: it answers 200, and shows Legacy, Disabled, and a target that does not change."""
    legacy = {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideMode": "Legacy"}
    bmc = Odd({SYSTEM: NONE}, lambda step: dict(step) if UEFI.items() <= step.items() else legacy)
    bmc.boot()
    assert bmc.sent == [ONCE, {**ONCE, **UEFI}]
    deaf = Odd({SYSTEM: NONE}, lambda _: legacy)
    with pytest.raises(BmcError, match=r"and shows BootSourceOverrideEnabled 'Disabled', .* 'None', .* 'Legacy': "):
        deaf.boot()
    assert len(deaf.sent) == 2
    other = Odd({SYSTEM: {**NONE, "BootSourceOverrideMode": "Legacy"}}, lambda _: legacy)
    with pytest.raises(BmcError, match="would not come from there"):
        other.boot()
    assert other.sent == [ONCE], "no mode is sent to a machine that was in another one"


def test_what_was_made_good_for_all_boots_is_taken_back() -> None:
    bmc = Odd({SYSTEM: NONE}, lambda step: dict(step) if step["BootSourceOverrideTarget"] == "None" else ALWAYS)
    with pytest.raises(BmcError, match="shows BootSourceOverrideEnabled 'Continuous'"):
        bmc.boot()
    assert bmc.bodies[SYSTEM]["Boot"] == {**NONE, **UEFI}
    person = Odd({SYSTEM: ALWAYS}, lambda _: {})
    with pytest.raises(BmcError, match="shows BootSourceOverrideEnabled 'Continuous'"):
        person.boot()
    assert person.sent == [ONCE, {**ONCE, **UEFI}], "what was so before stays"


def test_the_settings_object_or_the_system_shows_it() -> None:
    settings = f"{SYSTEM}/SD"
    bmc = Odd({SYSTEM: NONE, settings: NONE}, dict)
    bmc.boot()
    assert bmc.sent == [ONCE]
    bmc = Odd({SYSTEM: NONE, settings: NONE}, lambda step: bmc.bodies[SYSTEM]["Boot"].update(step) or {})
    bmc.boot()
    assert bmc.sent == [ONCE]
    nothing = Odd({SYSTEM: {}}, lambda _: {})
    nothing.boot()  # it shows no override at all, which contradicts nothing
    assert nothing.sent == [ONCE]
