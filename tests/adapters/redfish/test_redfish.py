"""The Redfish client, held against the lab's BMC and against captured trees of real ones, replayed."""

import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.redfish import Bmc, Limits, credentials
from fleet_runner.core.base.errors import BmcError, SettingsError
from fleet_runner.settings import Settings
from tests.adapters.redfish.replay import PASSWORD, QUICK, USER, replayed, small, talk
from tests.examples import examples

WORDS = (
    "@odata.id",
    "@odata.etag",
    "@Redfish.Settings",
    "SettingsObject",
    "Members",
    "Members@odata.nextLink",
    "Actions",
    "#ComputerSystem.Reset",
    "target",
    "ResetType@Redfish.AllowableValues",
    "@Redfish.ActionInfo",
    "Boot",
    "BootSourceOverrideTarget@Redfish.AllowableValues",
    "Links",
    "ManagedBy",
    "LastResetTime",
    "DateTime",
    "Power",
)
"""The keys that the client looks at."""


@pytest.fixture(scope="module")
def dgx(samples: Path) -> dict[str, Any]:
    """The captured tree of an NVIDIA DGX H100."""
    tree: dict[str, Any] = json.loads(gzip.decompress((samples / "redfish" / "dgx_h100.json.gz").read_bytes()))
    return tree


@pytest.fixture(scope="module")
def supermicro(samples: Path) -> dict[str, Any]:
    """The captured tree of a Supermicro HGX H100."""
    path = samples / "redfish" / "supermicro_hgx_h100.json.gz"
    tree: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return tree


def test_a_star_stands_for_each_member_of_a_real_collection(dgx: dict[str, Any]) -> None:
    with replayed(dgx) as server, talk(server) as bmc:
        found = bmc.read("/redfish/v1/UpdateService/FirmwareInventory/*")
    prefix = "/redfish/v1/UpdateService/FirmwareInventory/"
    assert found == {uri: body for uri, body in dgx.items() if uri.startswith(prefix)}
    assert len(found) > 50


def test_a_word_after_a_star_is_a_link_that_not_every_member_has(dgx: dict[str, Any]) -> None:
    """The DGX has two dozen chassis; only the one with power supplies links to Power."""
    with replayed(dgx) as server, talk(server) as bmc:
        found = bmc.read("/redfish/v1/Chassis/*/Power")
        asked = [uri for uri, _ in server.said("GET")]
    assert list(found) == ["/redfish/v1/Chassis/DGX/Power"]
    assert [uri for uri in asked if uri.endswith("/Power")] == ["/redfish/v1/Chassis/DGX/Power"]


def test_a_collection_without_members_has_none(dgx: dict[str, Any]) -> None:
    tree = {**dgx, "/redfish/v1/Systems/DGX/Storage": {"@odata.id": "/redfish/v1/Systems/DGX/Storage"}}
    with replayed(tree) as server, talk(server) as bmc:
        assert bmc.read("/redfish/v1/Systems/DGX/Storage/*") == {}


def test_a_dgx_is_powered_by_its_own_system_and_its_allowed_values(dgx: dict[str, Any]) -> None:
    with replayed(dgx) as server, talk(server) as bmc:
        bmc.power("ForceRestart")
        with pytest.raises(BmcError, match="allows ForceOff, ForceRestart, GracefulShutdown, On, not PowerCycle"):
            bmc.power("PowerCycle")
        assert bmc.power_actions() == ("ForceOff", "ForceRestart", "GracefulShutdown", "On")
        posts = server.said("POST")
    target = "/redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset"
    assert posts == [(target, {"ResetType": "ForceRestart"})]


def test_a_dgx_takes_a_boot_override_at_its_settings_resource(dgx: dict[str, Any]) -> None:
    with replayed(dgx) as server, talk(server) as bmc:
        bmc.boot_once("Pxe")
        bmc.boot_once("None")
        patches = server.said("PATCH")
        tags = [headers.get("If-Match") for verb, _, _, headers in server.asked if verb == "PATCH"]
    once = {"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}
    never = {"Boot": {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}}
    assert patches == [("/redfish/v1/Systems/DGX/SD", once), ("/redfish/v1/Systems/DGX/SD", never)]
    assert tags == [dgx["/redfish/v1/Systems/DGX/SD"]["@odata.etag"]] * 2


def test_the_age_of_a_reset_is_by_the_bmcs_own_clock(dgx: dict[str, Any]) -> None:
    """2024-07-02T02:40:43 until 2024-07-10T22:11:16, whatever today is."""
    with replayed(dgx) as server, talk(server) as bmc:
        assert bmc.last_reset_age() == 761_433.0


def test_a_boot_over_http_can_say_what_to_load(dgx: dict[str, Any]) -> None:
    with replayed(dgx) as server, talk(server) as bmc:
        bmc.boot_once("UefiHttp", "http://10.0.0.1/loader/snponly.efi")
        [(_, sent)] = server.said("PATCH")
    assert sent["Boot"]["HttpBootUri"] == "http://10.0.0.1/loader/snponly.efi"
    assert sent["Boot"]["BootSourceOverrideTarget"] == "UefiHttp"


def test_a_bmc_tells_the_serial_number_and_uuid_of_its_computer(dgx: dict[str, Any]) -> None:
    with replayed(dgx) as server, talk(server) as bmc:
        assert bmc.system() == dgx["/redfish/v1/Systems/DGX"]
    assert {"SerialNumber", "UUID"} <= dgx["/redfish/v1/Systems/DGX"].keys()


def test_a_bmc_that_names_no_reset_time_knows_no_age(supermicro: dict[str, Any]) -> None:
    with replayed(supermicro) as server, talk(server) as bmc:
        assert bmc.last_reset_age() is None
        bmc.power("PowerCycle")
        assert server.said("POST")[0][0] == "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
        bmc.boot_once("UefiHttp")
        assert server.said("PATCH")[0][0].startswith("/redfish/v1/Systems/1")
        assert len(bmc.read("/redfish/v1/Chassis/*/Power")) == 1


def test_without_a_manager_the_date_of_the_answer_is_the_clock() -> None:
    tree = small(LastResetTime="2026-01-01T00:00:00Z")
    with replayed(tree) as server, talk(server) as bmc:
        server.headers["/redfish/v1/Systems/1"] = {}
        age = bmc.last_reset_age()
    assert age is not None
    assert age > 0


@pytest.mark.parametrize("at", ["1970-01-01T00:00:00+00:00", "yesterday", 17, "2024-01-01T00:02:00+00:00"], ids=str)
def test_a_reset_time_that_cannot_be_true_is_unknown(at: Any) -> None:
    one = "/redfish/v1/Managers/1"
    tree = small(LastResetTime=at, Links={"ManagedBy": [{"@odata.id": one}]})
    tree[one] = {"@odata.id": one, "DateTime": "2024-01-01T00:00:00+00:00"}
    with replayed(tree) as server, talk(server) as bmc:
        assert bmc.last_reset_age() is None


def test_one_refused_password_is_never_tried_again() -> None:
    """A few wrong passwords lock the account for everybody."""
    with replayed(small()) as server, talk(server, "wrong secret") as bmc:
        for _ in range(3):
            with pytest.raises(BmcError, match=r"refused the BMC credentials \(401\); do not retry") as caught:
                bmc.read("/redfish/v1/Systems")
            assert "wrong secret" not in str(caught.value)
            assert caught.value.__cause__ is None
        assert [verb for verb, *_ in server.asked] == ["POST", "GET"]  # the root, which takes no password


def test_a_refused_basic_login_is_not_repeated_either() -> None:
    with replayed(small()) as server, talk(server) as bmc:
        server.sessions = False
        server.statuses["GET", "/redfish/v1/Systems"] = [401]
        for _ in range(2):
            with pytest.raises(BmcError, match="do not retry"):
                bmc.read("/redfish/v1/Systems/*")
        assert [uri for _, uri, _, headers in server.asked if "Authorization" in headers] == ["/redfish/v1/Systems"]


def test_a_session_is_closed_and_basic_used_where_there_are_none() -> None:
    with replayed(small()) as server:
        with talk(server) as bmc:
            bmc.read("/redfish/v1/Systems/*")
        assert server.closed == 1
        server.sessions = False
        with talk(server) as bmc:
            bmc.read("/redfish/v1/Systems/*")
        assert server.closed == 1
        assert server.asked[-1][3]["Authorization"] == "Basic ZmxlZXQ6Y29ycmVjdCBob3JzZQ=="


def test_a_session_that_ran_out_is_opened_again_once() -> None:
    with replayed(small()) as server, talk(server) as bmc:
        bmc.read("/redfish/v1/Systems/*")
        server.statuses["GET", "/redfish/v1/Systems"] = [401]
        assert len(bmc.read("/redfish/v1/Systems/*")) == 1
        assert server.tokens == 2


def test_a_changed_tag_is_read_again_once() -> None:
    with replayed(small(**{"@odata.etag": 'W/"1"'})) as server, talk(server) as bmc:
        server.statuses["PATCH", "/redfish/v1/Systems/1"] = [412]
        bmc.boot_once("Pxe")
        tags = [headers["If-Match"] for verb, _, _, headers in server.asked if verb == "PATCH"]
        assert tags == ['W/"1"', '"1"']
        bmc.boot_once("None")
        server.statuses["PATCH", "/redfish/v1/Systems/1"] = [412, 412]
        with pytest.raises(BmcError, match=r"answered 412 to the boot override Pxe: as told\[31m$"):
            bmc.boot_once("Pxe")


def test_a_member_on_another_server_is_refused() -> None:
    for link in ("https://elsewhere.example/redfish/v1/Systems/1", "//elsewhere.example/redfish", "/etc/passwd", 7):
        tree = small()
        tree["/redfish/v1/Systems"]["Members"].append({"@odata.id": link})
        with replayed(tree) as server, talk(server) as bmc, pytest.raises(BmcError, match="not its own"):
            bmc.read("/redfish/v1/Systems/*")


def test_a_redirect_is_followed_only_to_itself() -> None:
    with replayed(small()) as server, talk(server) as bmc:
        server.headers["/redfish/v1/Systems/"] = {"Location": "/redfish/v1/Systems"}
        server.statuses["GET", "/redfish/v1/Systems/"] = [308]
        server.tree["/redfish/v1"] = {"@odata.id": "/redfish/v1"}
        assert bmc._wire.get("/redfish/v1/Systems/").status == 200
        server.headers["/redfish/v1/Systems"] = {"Location": "http://127.0.0.2/redfish/v1/Systems"}
        server.statuses["GET", "/redfish/v1/Systems"] = [302]
        with pytest.raises(BmcError, match="not its own"):
            bmc.read("/redfish/v1/Systems/*")


@pytest.mark.parametrize(
    "text", [b"<html>login</html>", b"[1, 2]", b'{"status": "ok"}', b"\xff\xfe", b"[" * 100_000, b""], ids=repr
)
def test_what_is_not_redfish_is_an_error(text: bytes) -> None:
    with replayed(small()) as server, talk(server) as bmc:
        server.raw["/redfish/v1/Systems"] = text
        with pytest.raises(BmcError, match="not Redfish"):
            bmc.read("/redfish/v1/Systems/*")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["/redfish/v1/Systems"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=examples(60), deadline=None)
@given(collection=JSON, system=JSON, manager=JSON)
def test_whatever_a_bmc_says_the_only_error_is_a_bmc_error(collection: Any, system: Any, manager: Any) -> None:
    odata = {"@odata.id": "/redfish/v1/Systems"}
    tree = {
        "/redfish/v1/Systems": {**(collection if isinstance(collection, dict) else {"Members": collection}), **odata},
        "/redfish/v1/Systems/1": {**small()["/redfish/v1/Systems/1"], **(system if isinstance(system, dict) else {})},
        "/redfish/v1/Managers/1": {**(manager if isinstance(manager, dict) else {}), **odata},
    }
    with replayed(tree) as server, talk(server) as bmc:
        for call in (
            lambda: bmc.read("/redfish/v1/Systems/*/Power"),
            lambda: bmc.power("On"),
            lambda: bmc.boot_once("Pxe"),
            bmc.last_reset_age,
            bmc.power_state,
        ):
            with contextlib.suppress(BmcError):
                call()


def test_a_body_without_end_is_cut_off() -> None:
    with replayed(small()) as server, talk(server) as bmc:
        server.raw["/redfish/v1/Systems"] = b"x" * (QUICK.body_bytes + 1)
        with pytest.raises(BmcError, match="sent more than 3000000 bytes"):
            bmc.read("/redfish/v1/Systems/*")


def test_a_call_has_a_time_limit_of_its_own() -> None:
    with replayed(small()) as server, Bmc(server.url, USER, PASSWORD, limits=Limits(total_seconds=0)) as bmc:
        with pytest.raises(BmcError, match="took more than 0 s in all"):
            bmc.read("/redfish/v1/Systems/*")
        assert server.asked == []


def test_a_collection_that_leads_in_a_circle_ends() -> None:
    tree = small()
    tree["/redfish/v1/Systems"]["Members@odata.nextLink"] = "/redfish/v1/Systems"
    with replayed(tree) as server, talk(server) as bmc:
        assert list(bmc.read("/redfish/v1/Systems/*")) == ["/redfish/v1/Systems/1"]


def test_a_baseboard_that_does_not_answer_does_not_hide_the_computer() -> None:
    """The GPU baseboard's system answers 503 while the server is off, and is never the one that is meant."""
    tree = small()
    members = tree["/redfish/v1/Systems"]["Members"]
    members.insert(0, {"@odata.id": "/redfish/v1/Systems/HGX_Baseboard_0"})
    with replayed(tree) as server, talk(server) as bmc:
        server.statuses["GET", "/redfish/v1/Systems/HGX_Baseboard_0"] = [503]
        bmc.power("On")
        tree["/redfish/v1/Systems/HGX_Baseboard_0"] = {**tree["/redfish/v1/Systems/1"]}
        bmc.power("ForceOff")
        assert [uri for uri, _ in server.said("POST")] == ["/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"] * 2
        members.append({"@odata.id": "/redfish/v1/Systems/2"})
        tree["/redfish/v1/Systems/2"] = tree["/redfish/v1/Systems/1"]
        with pytest.raises(BmcError, match="several systems with a power action"):
            bmc.power("On")


def test_a_missing_resource_and_a_failing_one_are_told_apart() -> None:
    """What is not there is left out; what cannot be read now must not look as if it were not there."""
    with replayed(small()) as server, talk(server) as bmc:
        server.statuses["GET", "/redfish/v1/Systems/1"] = [404]
        assert bmc.read("/redfish/v1/Systems/*") == {}
        server.statuses["GET", "/redfish/v1/Systems/1"] = [503] * 9
        with pytest.raises(BmcError, match="answered 503, expected 200"):
            bmc.read("/redfish/v1/Systems/*")
        with pytest.raises(BmcError, match="answered 404, expected 200"):
            bmc.read("/redfish/v1/Nothing")


def test_a_bmc_that_is_not_there_is_an_error_soon() -> None:
    with replayed(small()) as server:
        url = server.url
    with Bmc(url, USER, PASSWORD, limits=QUICK) as bmc, pytest.raises(BmcError, match="the connection failed"):
        bmc.read("/redfish/v1/Systems/*")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://bmc", "not a BMC's address"),
        ("https://user:secret@bmc", "not a BMC's address"),
        ("https://bmc/elsewhere", "not a BMC's address"),
        ("https://", "not a BMC's address"),
        ("http://192.0.2.7", "unencrypted"),
    ],
)
def test_an_address_that_would_be_unsafe_is_refused(url: str, says: str) -> None:
    with pytest.raises(BmcError, match=says):
        Bmc(url, USER, PASSWORD)


def test_credentials_come_from_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "bmc.yml"
    named = Settings(bmc_credentials=path)
    with pytest.raises(SettingsError, match="set bmc_credentials"):
        credentials(Settings(bmc_credentials=None))
    with pytest.raises(SettingsError, match="cannot be read"):
        credentials(named)
    path.write_text("username: fleet\npassword: 'se:cret'\n", "utf-8")
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        credentials(named)
    path.chmod(0o600)
    assert credentials(named) == ("fleet", "se:cret")
    path.write_text("password: [topsecret\n", "utf-8")
    with pytest.raises(SettingsError, match="not YAML") as caught:
        credentials(named)
    assert "topsecret" not in str(caught.value)
    path.write_text("username: fleet\npassword: 1234\n", "utf-8")
    with pytest.raises(SettingsError, match="as text"):
        credentials(named)
