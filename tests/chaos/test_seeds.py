"""Runners that are killed, stopped and cut off at random: every node ends where it ends without that, nothing twice.

So no node goes to triage, and no ticket is opened, for what was done to us: plays may be ended as often as it comes.
The seeds run outside of this process, as `make chaos` runs them: tests/chaos/__main__.py.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests import postgres
from tests.chaos.disturbances import ON_POSTGRESQL, ON_SQLITE, Kind, drawn
from tests.chaos.fates import Fault, fate, fates, name
from tests.chaos.herd import ROOT

pytestmark = pytest.mark.timeout(2400)

NODES, DISTURBANCES = 4, 6
"""Of each seed that a change waits for."""

POSTGRESQL, POSTGRESQL_WELL = range(407, 409), range(570, 571)
SQLITE, SQLITE_WELL = range(1599, 1600), range(162, 163)
"""Seeds that a change waits for: few, and chosen so that on each database everything happens that may."""


@pytest.fixture(scope="module")
def postgresql() -> None:
    """PostgreSQL can be run here."""
    try:
        postgres.check()
    except postgres.AbsentError as error:
        pytest.skip(str(error))


def seeds(*arguments: str, patience: float = 2000.0) -> None:
    """Run seeds, and fail with all that is known of those that failed; whatever happens, none goes on."""
    command = [sys.executable, "-m", "tests.chaos", *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=patience)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # each seed ends what it started
            process.wait(60.0)
    assert process.returncode == 0, said


def few(of: range, *arguments: str) -> None:
    """Run seeds that a change waits for, one after the other on one lab."""
    small = ("--nodes", str(NODES), "--disturbances", str(DISTURBANCES), "--in-a-row", str(len(of)))
    seeds("--first", str(of[0]), "--seeds", str(len(of)), *small, *arguments)


@pytest.mark.parametrize(
    ("several", "table"),
    [((POSTGRESQL, POSTGRESQL_WELL), ON_POSTGRESQL), ((SQLITE, SQLITE_WELL), ON_SQLITE)],
    ids=["postgresql", "sqlite"],
)
def test_few_seeds_draw_every_disturbance(several: tuple[range, ...], table: Mapping[Kind, int]) -> None:
    """Where the tables change, other seeds are to be chosen."""
    shared = table is ON_POSTGRESQL
    found = {each.kind for of in several for seed in of for each in drawn(seed, DISTURBANCES, shared=shared)}
    assert found == set(table)


def test_few_seeds_draw_every_fault() -> None:
    nodes = [(fates(of[0]), name(node)) for of in (POSTGRESQL, SQLITE) for node in range(1, NODES * len(of) + 1)]
    assert {fate(each, node).fault for each, node in nodes} == set(Fault)


def test_one_runner_on_sqlite() -> None:
    """It is killed and stopped, its supervisors and plays too, and its database is locked."""
    few(SQLITE, "--database", "sqlite")


def test_three_runners_on_postgresql(postgresql: None) -> None:
    """Any of them is killed or stopped, with or without what it carries; the database crashes, and is cut off."""
    few(POSTGRESQL)


def test_nobody_comes_to_a_person_for_what_became_of_us(postgresql: None) -> None:
    """The hardware is healthy: every node serves at last, none was in triage, and there was no ticket."""
    few(POSTGRESQL_WELL, "--healthy")
    few(SQLITE_WELL, "--healthy", "--database", "sqlite")


@pytest.mark.nightly
def test_three_runners_and_a_large_fleet(postgresql: None) -> None:
    """Two hundred nodes walk the whole lifecycle meanwhile."""
    seeds("--seeds", "1", "--nodes", "200", "--disturbances", "10", "--first", "200")


@pytest.mark.nightly
@pytest.mark.timeout(6 * 3600)
def test_two_hundred_seeds(postgresql: None) -> None:
    """At night, with more nodes and more that happens to them."""
    more = ("--seeds", "200", "--nodes", "20", "--disturbances", "10")
    seeds(*more, "--first", "1001", patience=4 * 3600.0)
    seeds(*more, "--database", "sqlite", "--first", "2001", patience=2 * 3600.0)


@pytest.mark.nightly
@pytest.mark.timeout(6 * 3600)
def test_two_hundred_seeds_on_healthy_hardware(postgresql: None) -> None:
    """Half of them on each database."""
    more = ("--healthy", "--seeds", "100", "--nodes", "12", "--disturbances", "9")
    seeds(*more, "--first", "3001", patience=2 * 3600.0)
    seeds(*more, "--database", "sqlite", "--first", "4001", patience=2 * 3600.0)
