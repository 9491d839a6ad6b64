"""Fabric Manager's version and log, and a unit's properties."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import fabric_manager, systemctl
from tests.core.checks.catalogue.judging import text_of

LOG, UNIT = text_of("fabric_manager/log.txt"), text_of("fabric_manager/unit.txt")
STATES = "LoadState=loaded\nActiveState=active\nSubState=running\n"


def test_errors_are_read_with_their_time() -> None:
    """Nothing else of a log is."""
    first, last = fabric_manager.errors(LOG)
    assert first.at == "2025-02-27 07:12:59"
    assert last.words.startswith("detected NVSwitch non-fatal error 12028")


@pytest.mark.parametrize(
    "line",
    [
        "[Foo 27 2025 07:12:59] [ERROR] [tid 1] x\n",
        "[Feb 27 2025 07:12:59] [INFO] [tid 1] [ERROR] x\n",
        "[Feb 27 2025 07:12:59] [ERROR] [tid 1] no end",
        " [Feb 27 2025 07:12:59] [ERROR] [tid 1] x\n",
    ],
)
def test_what_is_no_whole_line_of_an_error_is_none(line: str) -> None:
    """A month that is none, an error quoted by another line, a line that is cut."""
    assert fabric_manager.errors(line) == ()


def test_the_newest_errors_of_a_long_log_are_read() -> None:
    """Sizes are bounded; a day may have one digit, and a line no thread."""
    text = "".join(f"[Mar 1 2025 07:12:59] [CRITICAL] {n}\n" for n in range(fabric_manager.MOST + 1))
    found = fabric_manager.errors(text)
    assert len(found) == fabric_manager.MOST
    assert (found[0].at, found[0].words) == ("2025-03-01 07:12:59", "1")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Fabric Manager version is : 580.105.08\nBuild Info - Branch: x", "580.105.08"),
        ("Fabric Manager version is : 570.86.15\r\n", "570.86.15"),
        ("Fabric Manager version is : 580.105.08", None),
        ("Fabric Manager version is : new\n", None),
        ("", None),
    ],
)
def test_a_version_is_one_whose_line_ends(text: str, version: str | None) -> None:
    """Half a version is another version."""
    assert fabric_manager.version(text) == version


def test_a_units_properties_are_read_and_half_a_line_is_not() -> None:
    """NRestarts=12 cut to NRestarts=1 would be a lie."""
    unit = systemctl.one(UNIT)
    assert (unit.name, unit.active, unit.restarts, unit.since) == ("", "active", 0, "2025-02-27 07:13:16")
    assert systemctl.one(STATES + "NRestarts=1").restarts is None


@pytest.mark.parametrize("text", ["", "LoadState=loaded\n", STATES.replace("active", ""), STATES[:-1]])
def test_a_unit_without_its_states_is_refused(text: str) -> None:
    """UNKNOWN, never a fault."""
    with pytest.raises(EvidenceError, match="expected a unit's LoadState"):
        systemctl.one(text)


@pytest.mark.parametrize(
    ("value", "stamp"),
    [
        ("Thu 2025-02-27 07:13:16 UTC", "2025-02-27 07:13:16"),
        ("Thu 2025-02-27 07:13:16", "2025-02-27 07:13:16"),
        ("n/a", ""),
        ("", ""),
    ],
)
def test_a_moment_is_read_in_the_nodes_own_time(value: str, stamp: str) -> None:
    """It is compared with a log that tells time the same way."""
    assert systemctl.one(f"{STATES}InactiveExitTimestamp={value}\n").since == stamp
