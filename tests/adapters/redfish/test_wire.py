"""How patient the client is with a BMC that is busy or restarts, and what it never does twice."""

from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, Limits
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.core.base.errors import BmcError
from tests.adapters.redfish.replay import PASSWORD, QUICK, USER, break_off, replayed, small, talk, updating

SYSTEMS = "/redfish/v1/Systems"
SESSIONS = "/redfish/v1/SessionService/Sessions"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_read_of_a_busy_bmc_is_tried_again(status: int) -> None:
    with replayed(small()) as server, talk(server) as bmc:
        server.statuses["GET", SYSTEMS] = [status] * QUICK.retries
        assert len(bmc.read(f"{SYSTEMS}/*")) == 1
        assert len([1 for uri, _ in server.said("GET") if uri == SYSTEMS]) == QUICK.retries + 1


def test_a_call_tries_again_a_few_times_in_all_however_many_reads_it_makes() -> None:
    """The GPU baseboard's sixty resources answer 503 while the computer is off."""
    with replayed(small()) as server, talk(server) as bmc:
        server.statuses["GET", SYSTEMS] = [503] * 2
        server.statuses["GET", f"{SYSTEMS}/1"] = [503] * 9
        with pytest.raises(BmcError, match="answered 503"):
            bmc.read(f"{SYSTEMS}/*")
        assert len(server.said("GET")) == 3 + 2
        server.statuses["GET", f"{SYSTEMS}/1"] = [503] * QUICK.retries
        assert len(bmc.read(f"{SYSTEMS}/*")) == 1


def test_a_baseboard_that_is_not_there_is_not_waited_for_and_the_computer_is() -> None:
    tree = small()
    baseboard = f"{SYSTEMS}/HGX_Baseboard_0"
    tree[SYSTEMS]["Members"].insert(0, {"@odata.id": baseboard})
    with replayed(tree) as server, talk(server) as bmc:
        server.statuses["GET", baseboard] = [503] * 9
        assert bmc.power_state() == "On"
        assert [uri for uri, _ in server.said("GET")].count(baseboard) == 1
        server.statuses["GET", f"{SYSTEMS}/1"] = [503] * 2
        assert bmc.power_state() == "On"


def test_a_read_whose_connection_breaks_is_tried_again_and_a_change_is_not() -> None:
    broken: list[int] = []

    def once(handler: Any) -> None:
        broken.append(1)
        handler.server.broken.clear()
        break_off(handler)

    reset = f"{SYSTEMS}/1/Actions/ComputerSystem.Reset"
    with replayed(small()) as server, talk(server) as bmc:
        server.broken[SYSTEMS] = once
        assert len(bmc.read(f"{SYSTEMS}/*")) == 1
        server.broken[reset] = once
        with pytest.raises(BmcError, match="the connection failed"):
            bmc.power("On")
        assert [uri for uri, _ in server.said("POST")] == [reset]
        assert len(broken) == 2


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_change_that_a_busy_bmc_answers_is_not_sent_again(status: int) -> None:
    with replayed(small()) as server, talk(server) as bmc:
        server.statuses["POST", f"{SYSTEMS}/1/Actions/ComputerSystem.Reset"] = [status]
        with pytest.raises(BmcError, match=f"answered {status}"):
            bmc.power("On")
        assert len(server.said("POST")) == 1


def test_a_bmc_that_says_when_to_come_back_is_asked_then_if_that_is_soon() -> None:
    limits = Limits(total_seconds=60, retries=1, pause_seconds=0.01, most_pause_seconds=0.3)
    with replayed(small()) as server, Bmc(server.url, USER, PASSWORD, limits=limits) as bmc:
        server.headers[SYSTEMS] = {"Retry-After": "9999999"}
        server.statuses["GET", SYSTEMS] = [503]
        assert len(bmc.read(f"{SYSTEMS}/*")) == 1


def test_a_call_without_time_left_does_not_pause() -> None:
    limits = Limits(total_seconds=30, retries=5, pause_seconds=1000, most_pause_seconds=1000)
    with replayed(small()) as server, Bmc(server.url, USER, PASSWORD, limits=limits) as bmc:
        server.statuses["GET", SYSTEMS] = [503]
        with pytest.raises(BmcError, match="answered 503"):
            bmc.read(f"{SYSTEMS}/*")


def test_a_bmc_that_comes_up_while_it_is_asked_is_waited_for() -> None:
    """Its port refuses first; the login reached nobody, and is made again."""
    limits = Limits(total_seconds=120, retries=400, pause_seconds=0.05, most_pause_seconds=0.1)
    with replayed(updating(), late=0.3) as server, Bmc(server.url, USER, PASSWORD, limits=limits) as bmc:
        assert Updates(bmc).inventory()
        assert server.tokens == 1


def test_one_session_serves_every_call_and_is_closed_once() -> None:
    with replayed(updating()) as server:
        with talk(server) as bmc:
            for _ in range(3):
                Updates(bmc).inventory()
                Updates(bmc).tasks()
                bmc.power_state()
        assert (server.tokens, server.closed) == (1, 1)
        bmc.close()
        assert server.closed == 1


def test_a_session_is_closed_after_an_error_too() -> None:
    with replayed(small()) as server:
        server.statuses["GET", SYSTEMS] = [500]
        with pytest.raises(BmcError), talk(server) as bmc:
            bmc.read(f"{SYSTEMS}/*")
        assert server.closed == 1


def test_a_session_whose_uri_has_another_name_of_the_bmc_is_closed_at_the_bmc() -> None:
    """HPE answers with the name that it has given itself."""
    with replayed(small()) as server:
        server.headers[SESSIONS] = {"Location": "https://ilo-7.example/redfish/v1/SessionService/Sessions/fleet1"}
        with talk(server) as bmc:
            bmc.read(f"{SYSTEMS}/*")
        deleted = [uri for verb, uri, *_ in server.asked if verb == "DELETE"]
    assert deleted == [f"{SESSIONS}/fleet1"]


def test_a_login_that_a_starting_bmc_does_not_answer_is_no_reason_for_another_way() -> None:
    """A 503 in Redfish's words is about sessions; one without is a web server's."""
    with replayed(small()) as server, talk(server) as bmc:
        server.raw[SESSIONS] = b""
        server.statuses["POST", SESSIONS] = [503]
        assert len(bmc.read(f"{SYSTEMS}/*")) == 1
        assert "Authorization" in server.asked[-1][3]
    with replayed(small()) as server, talk(server) as bmc:
        server.broken[SESSIONS] = lambda handler: handler._send(503, b"<html>starting</html>")
        with pytest.raises(BmcError, match="answered 503 to a login"):
            bmc.read(f"{SYSTEMS}/*")
        assert not any("Authorization" in headers for *_, headers in server.asked)


@pytest.mark.parametrize("status", [401, 404])
def test_sessions_that_lie_elsewhere_are_opened_where_the_root_names_them(status: int) -> None:
    """As on older iDRACs; an address that is none may want a login, which is no word about the password."""
    tree = small()
    tree["/redfish/v1"] = {"Links": {"Sessions": {"@odata.id": "/redfish/v1/Sessions/"}}}
    with replayed(tree) as server, talk(server) as bmc:
        server.statuses["POST", SESSIONS] = [status]
        server.broken["/redfish/v1/Sessions"] = lambda handler: handler._log_in(server.asked[-1][2])
        assert len(bmc.read(f"{SYSTEMS}/*")) == 1
        assert server.tokens == 1
    assert [(verb, uri) for verb, uri, *_ in server.asked[:3]] == [
        ("POST", SESSIONS), ("GET", "/redfish/v1"), ("POST", "/redfish/v1/Sessions"),
    ]  # fmt: skip
    assert not any("Authorization" in headers for *_, headers in server.asked)


@pytest.mark.parametrize(
    "links", [None, {}, {"Sessions": None}, {"Sessions": {"@odata.id": "https://other.example/x"}}]
)
def test_a_root_that_names_no_other_sessions_makes_a_refusal_final(links: Any) -> None:
    tree = small()
    tree["/redfish/v1"] = {"Links": links}
    with replayed(tree) as server, talk(server) as bmc:
        server.statuses["POST", SESSIONS] = [401]
        with pytest.raises(BmcError, match="refused the BMC credentials"):
            bmc.read(f"{SYSTEMS}/*")
        assert [uri for verb, uri, *_ in server.asked if verb == "POST"] == [SESSIONS]
