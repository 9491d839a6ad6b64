"""A switch that tells ARP of one VRF at a time is asked for each of them; what it refuses is no fault of its own.

If it refuses to tell its neighbours, the reason names the command.
"""

import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fleet_runner.core.cabling.switches import NETWORK_OS
from fleet_runner.core.checks.parsers.forwarding import Learned

ROWS = """\
Address        Hardware address    Interface                     Egress Interface
------------------------------------------------------------------------------------------
{address}      {mac}   {port}                 {port}
"""
DEFAULT = Learned("ethernet1/1/9", "02:00:00:00:00:09")
BLUE = Learned("ethernet1/1/1", "02:00:00:00:00:01")
RED = Learned("ethernet1/1/3", "02:00:00:00:00:03")


@pytest.fixture
def switch(tmp_path: Path, evidence: Path) -> Path:
    """The answers of a switch, each in a file that is named after its command."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for words, row in (("", DEFAULT), (" vrf tenant-blue", BLUE), (" vrf tenant_red", RED)):
        text = ROWS.format(address="192.0.2.1", mac=row.mac, port=row.interface)
        (folder / f"show ip arp{words} | no-more").write_text(text)
    (folder / "show ip vrf | no-more").write_text((evidence / "os10" / "vrf.txt").read_text())
    return folder


@pytest.fixture
def addresses(
    plugin: Callable[[str], ModuleType], tool: Callable[[str, str], str], switch: Path
) -> Callable[[], set[Learned]]:
    """Ask the switch as a sweep does; it refuses a command that it has no answer to."""
    ssh = tool("ssh", f'for words; do :; done\ncat "{switch}/$words" 2>/dev/null || exit 1')
    variables = {NETWORK_OS: "dellemc.os10.os10", "ansible_host": "192.0.2.9", "ansible_ssh_executable": ssh}

    def ask() -> set[Learned]:
        module: Any = plugin("action/fleet_switches")
        return set(module._addresses(variables, "192.0.2.9", time.monotonic() + 60))

    return ask


def test_every_vrf_of_os10_but_that_of_its_management_is_asked(addresses: Callable[[], set[Learned]]) -> None:
    assert addresses() == {DEFAULT, BLUE, RED}


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ("show ip vrf | no-more", {DEFAULT}),
        ("show ip arp vrf tenant-blue | no-more", {DEFAULT, RED}),
        ("show ip arp | no-more", {BLUE, RED}),
    ],
)
def test_what_a_switch_refuses_takes_nothing_else_away(
    addresses: Callable[[], set[Learned]], switch: Path, refused: str, left: set[Learned]
) -> None:
    (switch / refused).unlink()
    assert addresses() == left


@pytest.mark.parametrize(("code", "told"), [(1, "; it was asked: show lldp neighbors detail | no-more"), (255, "")])
def test_of_a_command_that_is_refused_the_reason_names_it(
    plugin: Callable[[str], ModuleType], tool: Callable[[str, str], str], code: int, told: str
) -> None:
    """So the reader sees what the account has to be allowed; without a connection no command was asked."""
    ssh = tool("ssh", f"echo no >&2; exit {code}")
    variables = {NETWORK_OS: "dellemc.os10.os10", "ansible_host": "192.0.2.9", "ansible_ssh_executable": ssh}
    module: Any = plugin("action/fleet_switches")
    assert module._asked(variables, 60) == f"ssh ended with {code}: no{told}"
