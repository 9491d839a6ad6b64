"""Who may ask an emulated BMC: sessions and their limit, Basic, locked accounts; and entity tags, methods, errors."""

import threading
from collections.abc import Iterator

import pytest

from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator
from tests.lab.redfish.talking import LONGEST, QUICK, USER, Client, emulator, wait

SYSTEMS = "/redfish/v1/Systems"
WRONG = (USER[0], "guess")


@pytest.fixture
def bmc() -> Iterator[Emulator]:
    """A BMC with the project's own tree, that locks an account for a moment."""
    pace = Durations(**{**_fields(QUICK), "lockout": 1.5})
    with emulator(pace=pace, habits=BmcBehaviour(sessions=2)) as started:
        yield started


@pytest.fixture
def nobody(bmc: Emulator) -> Iterator[Client]:
    """Somebody without credentials."""
    with Client(bmc, basic=False) as talking:
        yield talking


def test_only_the_root_is_open_to_all(nobody: Client) -> None:
    assert nobody.ask("GET", "/redfish").json() == {"v1": "/redfish/v1/"}
    assert nobody.ask("GET", "/redfish/v1/").status_code == 200
    reply = nobody.ask("GET", SYSTEMS)
    assert reply.status_code == 401
    assert reply.json()["error"]["@Message.ExtendedInfo"][0]["MessageId"].endswith("NoValidSession")
    assert nobody.ask("GET", SYSTEMS, headers={"X-Auth-Token": "made up"}).status_code == 401


def test_a_session_lives_from_its_login_to_its_logout(bmc: Emulator, nobody: Client) -> None:
    reply = nobody.log_in()
    assert reply.status_code == 201
    assert reply.json()["UserName"] == USER[0]
    uri = reply.headers["Location"]
    assert nobody.get(bmc.tree.sessions)["Members"] == [{"@odata.id": uri}]
    assert nobody.get(uri)["Id"] == uri.rpartition("/")[2]
    assert nobody.ask("DELETE", uri).status_code == 204
    assert nobody.ask("GET", SYSTEMS).status_code == 401
    assert [event.kind for event in bmc.events("login", "logout")] == ["login", "logout"]


def test_there_are_only_so_many_sessions(nobody: Client) -> None:
    uris = [nobody.log_in().headers["Location"] for _ in range(2)]
    reply = nobody.log_in()
    assert reply.status_code == 503
    assert "SessionLimitExceeded" in reply.json()["error"]["code"]
    assert nobody.ask("DELETE", uris[0]).status_code == 204
    assert nobody.log_in().status_code == 201


def test_a_session_that_nobody_uses_runs_out() -> None:
    pace = Durations(**{**_fields(QUICK), "session": 0.05})
    with emulator(pace=pace) as bmc, Client(bmc, basic=False) as client:
        client.log_in()
        wait(lambda: (client.ask("GET", "/redfish/v1").ok and bmc.events("logout")) or _late(client))
        assert bmc.events("logout")[0]["why"] == "timeout"


def test_an_account_is_locked_after_too_many_wrong_passwords_and_free_again_later(bmc: Emulator) -> None:
    with Client(bmc, WRONG) as guesser, Client(bmc) as owner:
        assert owner.ask("GET", SYSTEMS).ok
        most = bmc.tree.get(bmc.tree.account_service)["AccountLockoutThreshold"]
        for _ in range(most):
            assert guesser.ask("GET", SYSTEMS).status_code == 401
        assert owner.ask("GET", SYSTEMS).status_code == 401
        assert [event["why"] for event in bmc.events("login_refused")] == ["wrong"] * most + ["locked"]
        wait(lambda: owner.ask("GET", SYSTEMS).ok)


def test_a_right_password_in_between_starts_the_count_anew(bmc: Emulator) -> None:
    with Client(bmc, WRONG) as guesser, Client(bmc) as owner:
        for _ in range(6):
            guesser.ask("GET", SYSTEMS)
            assert owner.ask("GET", SYSTEMS).ok


def test_a_change_needs_the_resource_as_it_was_read(bmc: Emulator) -> None:
    system = bmc.tree.systems[0]
    with Client(bmc) as client:
        tag = client.ask("GET", system).headers["ETag"]
        assert client.ask("GET", system, headers={"If-None-Match": tag}).status_code == 304
        change = {"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}
        assert client.ask("PATCH", system, change, headers={"If-Match": '"old"'}).status_code == 412
        assert client.ask("PATCH", system, change, headers={"If-Match": tag}).status_code == 204
        assert client.ask("PATCH", system, change, headers={"If-Match": tag}).status_code == 412
        assert client.get(system)["Boot"]["BootSourceOverrideTarget"] == "Pxe"


def test_a_bmc_may_insist_on_if_match() -> None:
    with emulator(habits=BmcBehaviour(needs_if_match=True)) as bmc, Client(bmc) as client:
        change = {"Boot": {"BootSourceOverrideEnabled": "Disabled"}}
        assert client.ask("PATCH", bmc.tree.systems[0], change).status_code == 428
        assert client.ask("PATCH", bmc.tree.systems[0], change, headers={"If-Match": "*"}).ok


@pytest.mark.parametrize(
    ("method", "uri", "body", "status"),
    [
        ("GET", "/redfish/v1/Nowhere", None, 404),
        ("DELETE", SYSTEMS, None, 405),
        ("PUT", SYSTEMS, {}, 405),
        ("POST", SYSTEMS, {}, 405),
        ("GET", f"{SYSTEMS}/1/Actions/ComputerSystem.Reset", None, 405),
        ("POST", f"{SYSTEMS}/1/Actions/ComputerSystem.Reset", {"ResetType": "Nmi"}, 400),
        ("POST", f"{SYSTEMS}/1/Actions/ComputerSystem.Reset", {}, 400),
        ("PATCH", f"{SYSTEMS}/1", {"Colour": "red"}, 400),
        ("PATCH", f"{SYSTEMS}/1", {"Id": "2"}, 400),
        ("PATCH", f"{SYSTEMS}/1", {"Boot": {"BootSourceOverrideTarget": "Floppy"}}, 400),
        ("PATCH", "/redfish/v1/UpdateService/FirmwareInventory/BIOS", {"Version": "9"}, 405),
    ],
)
def test_what_cannot_be_done_is_refused_in_redfish_form(
    bmc: Emulator, method: str, uri: str, body: object, status: int
) -> None:
    with Client(bmc) as client:
        reply = client.ask(method, uri, body)
        assert reply.status_code == status
        assert reply.json()["error"]["@Message.ExtendedInfo"][0]["Message"]


def test_a_body_that_is_no_json_object_is_refused(bmc: Emulator) -> None:
    with Client(bmc) as client:
        for text in (b"{", b"[]", b"\xff"):
            reply = client.http.patch(bmc.url + bmc.tree.systems[0], data=text, timeout=LONGEST)
            assert reply.status_code == 400


def test_changes_stay(bmc: Emulator) -> None:
    with Client(bmc) as client:
        assert client.ask("PATCH", bmc.tree.session_service, {"ServiceEnabled": False}).ok
        assert client.get(bmc.tree.session_service)["ServiceEnabled"] is False


def test_two_hundred_bmcs_answer_on_one_thread() -> None:
    before = threading.active_count()
    bmcs = [emulator().start() for _ in range(200)]
    try:
        assert threading.active_count() - before <= 1
        assert len({bmc.url for bmc in bmcs}) == 200
        for bmc in bmcs:
            with Client(bmc) as client:
                assert client.get(SYSTEMS)["Members@odata.count"] == 1
    finally:
        for bmc in bmcs:
            bmc.stop()


def _fields(pace: Durations) -> dict[str, float | None]:
    return {name: getattr(pace, name) for name in Durations.__slots__}


def _late(client: Client) -> None:
    """Ask with a session that may have run out, slower than it lives."""
    threading.Event().wait(0.1)
    client.ask("GET", SYSTEMS)
