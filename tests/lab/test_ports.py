"""Ports are free, each is another one, and none is among those that Linux gives to whoever asks for any."""

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from fleet_runner.lab import ports


def test_ports_are_free_and_each_is_another_one() -> None:
    found = ports.choose(200)
    assert len(set(found)) == 200
    with ExitStack() as opened:
        for port in found:
            opened.enter_context(socket.create_server((ports.HERE, port)))


def test_whoever_asks_linux_for_any_port_gets_none_of_them() -> None:
    """A program that connects meanwhile does so, too."""
    first = int(ports.GIVEN_AWAY.read_text("ascii").split()[0])
    if first <= ports.LOWEST:
        pytest.skip(f"{ports.GIVEN_AWAY} begins with {first}: Linux gives away all ports")
    assert max(ports.choose(200)) < first


@pytest.mark.parametrize("told", ["1024 65535\n", None])
def test_where_linux_gives_all_away_or_does_not_say_it_chooses_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    monkeypatch.setattr(ports, "GIVEN_AWAY", tmp_path / "range")
    if told:
        (tmp_path / "range").write_text(told)
    assert len(set(ports.choose(20))) == 20


def test_a_port_that_is_taken_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server((ports.HERE, 0)) as taken:
        monkeypatch.setattr(ports, "_candidates", lambda: iter([taken.getsockname()[1], 0]))
        assert ports.choose(1) != [taken.getsockname()[1]]
