"""What is no request of a booting machine is answered shortly, and costs nobody else anything."""

from pathlib import Path

import pytest

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.requests import source_of
from tests.services.boot.desks import HOME, NOW, OTHER, Hall, fleet_of, mac, node, play


def token(folder: Path) -> Path:
    """Write the token of DHCP servers."""
    path = folder / "token"
    path.write_text("secret\n", "utf-8")
    path.chmod(0o600)
    return path


UNREADABLE = (
    b"",
    b"[]",
    b"null",
    b"{",
    b"\xff",
    b'{"event": 1, "mac": "02:00:00:00:00:01", "address": "10.0.0.1"}',
    b'{"event": "lease", "mac": "x", "address": "10.0.0.1"}',
    b'{"event": "lease", "mac": "020000000001"}',
)
ASKED = (
    ("GET", "/", 404),
    ("GET", "/nothing", 404),
    ("GET", "/ipxe/%2e%2e/health", 404),
    ("POST", "/ipxe", 405),
    ("HEAD", "/seed/x/user-data", 405),
    ("GET", "/phone-home/x", 405),
    ("PUT", "/image/a/b", 405),
    ("DELETE", "/health", 405),
    ("GET", "/health", 200),
    ("GET", f"/ipxe?mac={'a' * 5000}", 414),
    ("GET", "/image/a", 404),
    ("GET", "/loader", 404),
    ("GET", "/seed", 404),
    ("POST", "/phone-home", 404),
    ("GET", "/seed/a/b/c", 404),
)


def test_what_nobody_serves_has_its_status(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        for method, path, status in ASKED:
            assert (await hall.ask(path, method)).status_code == status, path

    play(tmp_path, story)


def test_a_request_with_too_many_headers_is_refused(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        headers = {f"x-{number}": "a" for number in range(65)}
        assert (await hall.ask("/health", headers=headers)).status_code == 431

    play(tmp_path, story)


def test_an_address_that_asks_too_much_waits_and_the_others_do_not(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.desk.limits = Limits(per_second=1.0, burst=3.0)
        assert [(await hall.ask("/health")).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        assert (await hall.ask("/health", source=OTHER)).status_code == 200
        hall.now += 1.5
        answers = [await hall.ask("/health") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 429]
        assert answers[1].headers["retry-after"] == "5"

    play(tmp_path, story)


def test_a_clock_that_is_set_back_changes_nothing_about_what_an_address_may_ask_or_what_is_logged(
    tmp_path: Path,
) -> None:
    async def story(hall: Hall) -> None:
        hall.desk.limits = Limits(per_second=1.0, burst=1.0)
        hall.desk.clock = lambda: NOW - 3600 if hall.now > NOW else NOW
        assert [(await hall.ask("/health")).status_code for _ in range(2)] == [200, 429]
        assert [hall.desk.fresh("gpu-01", "key", HOME) for _ in range(2)] == [True, False]
        hall.now += 61
        assert (await hall.ask("/health")).status_code == 200
        assert hall.desk.fresh("gpu-01", "key", HOME)

    play(tmp_path, story)


def test_dhcp_servers_with_the_token_may_tell_as_much_as_they_have(tmp_path: Path) -> None:
    lease = {"event": "lease", "mac": mac(1), "address": HOME}
    bearer = {"authorization": "Bearer secret"}

    async def story(hall: Hall) -> None:
        hall.desk.limits = Limits(per_second=1.0, burst=3.0)
        for _ in range(10):
            assert (await hall.ask("/dhcp", "POST", json=lease, headers=bearer)).status_code == 200
        answer = await hall.ask("/dhcp", "POST", json=lease, headers={"authorization": "Bearer other"})
        assert answer.status_code == 429

    play(tmp_path, story, boot_dhcp_token=token(tmp_path))


def test_a_lease_without_the_token_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        hall.arm()
        told = {"event": "lease", "mac": mac(1), "address": HOME}
        for given in ("", "secret", "Bearer ", "Bearer secre", "Bearer secrets", "bearer secret", "Basic x"):
            answer = await hall.ask("/dhcp", "POST", json=told, headers={"authorization": given})
            assert answer.status_code == 401
        await hall.settled()
        assert not hall.store.boots("gpu-01")[0].reached
        assert "dhcp" not in hall.store.beats()

    play(tmp_path, story, boot_dhcp_token=token(tmp_path))


def test_without_a_token_set_no_lease_is_taken(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        for given in ("", "Bearer ", "Bearer x"):
            answer = await hall.ask("/dhcp", "POST", json={}, headers={"authorization": given})
            assert answer.status_code == 401

    play(tmp_path, story)


def test_a_lease_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        bearer = {"authorization": "Bearer secret"}
        for body in UNREADABLE:
            assert (await hall.ask("/dhcp", "POST", content=body, headers=bearer)).status_code == 400
        large = await hall.ask("/dhcp", "POST", content=b" " * 5000, headers=bearer)
        assert large.status_code == 413

    play(tmp_path, story, boot_dhcp_token=token(tmp_path))


def test_leases_of_machines_that_are_not_armed_or_unknown_and_other_events_only_show_that_dhcp_lives(
    tmp_path: Path,
) -> None:
    async def story(hall: Hall) -> None:
        bearer = {"authorization": "Bearer secret"}
        hall.arm(2)
        for event, number in (("lease", 1), ("lease", 9), ("release", 2)):
            told = {"event": event, "mac": mac(number), "address": HOME}
            assert (await hall.ask("/dhcp", "POST", json=told, headers=bearer)).status_code == 200
        await hall.settled()
        assert not hall.store.boots("gpu-02")[0].reached
        assert hall.store.beats()["dhcp"] == NOW

    play(tmp_path, story, node(1), node(2), boot_dhcp_token=token(tmp_path))


@pytest.mark.parametrize("wrong", [SourceError("site: two devices are called gpu-01"), RecursionError()])
def test_a_source_of_truth_that_breaks_leaves_the_last_good_copy_and_health_says_so(
    tmp_path: Path, wrong: Exception
) -> None:
    def broken() -> Fleet:
        raise wrong

    async def story(hall: Hall) -> None:
        good = hall.source.pop()
        hall.source.append(fleet_of(revision="2"))
        hall.desk.known._read = broken
        await hall.desk.known.refresh()
        assert (await hall.ask("/health")).json() == {"store": True, "source": False}
        assert "not armed" in await hall.script()
        hall.desk.known._read = lambda: good
        await hall.desk.known.refresh()
        assert (await hall.ask("/health")).json() == {"store": True, "source": True}

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("client", "source"),
    [
        (("10.0.0.1", 1), "10.0.0.1"),
        (("::ffff:10.0.0.1", 1), "10.0.0.1"),
        (("fd00::1", 1), "fd00::1"),
        (("::ffff:1", 1), "::ffff:1"),
        (None, ""),
    ],
)
def test_an_address_is_the_same_on_both_kinds_of_socket(client: tuple[str, int] | None, source: str) -> None:
    assert source_of({"client": client}) == source
