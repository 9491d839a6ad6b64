"""Does the node run as it should: its clock, its services, its processes."""

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, host, later
from tests.core.checks.catalogue.judging import EXPECTED, HEALTHY, READ_AT, remedies

CHRONYC = HEALTHY["time_sync"]["chronyc"]
UNITS = HEALTHY["services"]["units"]
PS, LOADS = HEALTHY["processes"]["ps"], HEALTHY["processes"]["loads"]
STUCK = "D   48000    1201     0    1000 python3\n"


def test_a_clock_that_follows_nothing_is_watched() -> None:
    """Whoever says it."""
    lost = CHRONYC.replace("Normal", "Not synchronised")
    assert remedies(host("time_sync", chronyc=lost)) == {"time.unsynchronised": Remedy.WATCH}
    alone = host("time_sync", chronyc=None, timedatectl="NTP=yes\nNTPSynchronized=no\n")
    assert remedies(alone) == {"time.unsynchronised": Remedy.WATCH}


def test_a_clock_that_is_far_off_is_watched() -> None:
    """Slow or fast."""
    result = host("time_sync", chronyc=CHRONYC.replace("0.000012345", "-0.250000000"))
    assert host("time_sync").verdict is Verdict.PASS
    assert result.message == "the clock is 0.25 s off 192.0.2.10, expected at most 0.01 s"


@pytest.mark.parametrize(("seconds", "words"), [
    ("0.000012345", "12.3 µs off"), ("0.0", ", 0 s off"), ("0.0012", "0.0012 s off"), ("123456.5", "123456 s off"),
])  # fmt: skip
def test_an_offset_is_told_without_powers_of_ten(seconds: str, words: str) -> None:
    expected = asked("time_sync", {"offset_seconds_max": None})
    assert words in host("time_sync", expected, chronyc=CHRONYC.replace("0.000012345", seconds)).message


def test_any_offset_will_do_where_the_profile_has_no_limit() -> None:
    """That the clock follows a source is enough."""
    far = CHRONYC.replace("0.000012345", "9.5")
    assert host("time_sync", asked("time_sync", {"offset_seconds_max": None}), chronyc=far).verdict is Verdict.PASS


def test_systemd_tells_no_offset() -> None:
    """Where the profile has a limit, that is unknown."""
    assert host("time_sync", chronyc=None).verdict is Verdict.UNKNOWN
    assert host("time_sync", asked("time_sync", {"offset_seconds_max": None}), chronyc=None).verdict is Verdict.PASS


def test_where_chronyd_does_not_answer_systemd_is_asked() -> None:
    """506 Cannot talk to daemon."""
    readings = {
        "chronyc": Reading("chronyc", ReadEnd.OK, "506 Cannot talk to daemon\n", rc=1),
        "timedatectl": Reading("timedatectl", ReadEnd.OK, "NTPSynchronized=yes\n"),
    }
    expected = asked("time_sync", {"offset_seconds_max": None})
    assert run(CHECKS["time_sync"], readings, expected).verdict is Verdict.PASS
    assert run(CHECKS["time_sync"], {"chronyc": readings["chronyc"]}, expected).verdict is Verdict.UNKNOWN
    assert run(CHECKS["time_sync"], {}, expected).message.startswith("neither chronyc nor timedatectl")


@pytest.mark.parametrize("text", [CHRONYC.replace("0.000402000", "x"), "a,b\n", CHRONYC.replace("Normal", "Norm")])
def test_an_answer_of_chronyc_that_is_none_is_unknown(text: str) -> None:
    """Half a line is none."""
    assert host("time_sync", chronyc=text).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ActiveState=active\nSubState=running", "ActiveState=failed\nSubState=failed", "is failed/failed"),
        ("LoadState=loaded\nActiveState=active", "LoadState=not-found\nActiveState=inactive", "(not-found)"),
        (
            "ActiveState=active\nSubState=running\nResult=success",
            "ActiveState=failed\nSubState=failed\nResult=exit-code",
            "(exit-code)",
        ),
    ],
)
def test_a_service_that_the_node_lives_on_must_run(old: str, new: str, said: str) -> None:
    """A boot starts it anew."""
    result = host("services", units=UNITS.replace(old, new, 1))
    assert remedies(result) == {"service.down": Remedy.REBOOT}
    assert said in result.message


def test_a_service_is_known_by_any_of_its_names() -> None:
    """One of DCGM's two."""
    result = host(
        "services", units=UNITS.replace("SubState=running\nResult=success\nNRestarts=1", "SubState=dead", 1)
    )
    assert result.verdict is Verdict.PASS
    bent = UNITS.replace(
        "ActiveState=active\nSubState=running\nResult=success\nNRestarts=1", "ActiveState=inactive\nSubState=dead"
    )
    assert [each.component for each in host("services", units=bent).findings] == ["dcgm.service"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("ActiveState=active", "ActiveState=activating"), ("nvidia-fabricmanager.service", "x.service")],
)
def test_a_service_on_its_way_or_unheard_of_is_unknown(old: str, new: str) -> None:
    """A later look shows more."""
    assert host("services", units=UNITS.replace(old, new)).verdict is Verdict.UNKNOWN


def test_another_service_that_failed_is_watched_unless_it_is_ignored() -> None:
    """Somebody should know."""
    failed = UNITS.replace("ActiveState=active\nSubState=exited", "ActiveState=failed\nSubState=failed")
    result = host("services", units=failed)
    assert remedies(result) == {"service.failed": Remedy.WATCH}
    assert result.findings[0].component == "systemd-modules-load.service"
    recorded = host("services", asked("services", {"failed_ignored": None}), units=failed)
    assert remedies(recorded) == {"service.failed": Remedy.RECORD}
    ignored = asked("services", {"failed_ignored": ["systemd-modules-load*"]})
    assert host("services", ignored, units=failed).verdict is Verdict.PASS


def test_a_service_that_starts_over_and_over_is_watched() -> None:
    """More often than the profile allows, or not at all asked for."""
    first = host("services")
    often = UNITS.replace("NRestarts=1", "NRestarts=5")
    assert remedies(host("services", later("services", first, 600), units=often)) == {
        "service.restarts": Remedy.WATCH
    }
    silent = asked("services", {"restarts_per_day_max": None, "failed_ignored": None})
    assert host("services", later("services", first, 600, silent), units=often).verdict is Verdict.PASS


def test_more_units_than_any_node_has_are_unknown() -> None:
    """Nothing reads them all."""
    assert host("services", units=UNITS + "\n" + "Id=x\n\n" * 5001).verdict is Verdict.UNKNOWN


def test_a_process_that_waits_in_two_looks_hangs() -> None:
    """In one it may just be writing."""
    first = host("processes", ps=PS + STUCK)
    assert first.verdict is Verdict.PASS
    aged = PS + STUCK.replace("1000", "1600")
    readings = {
        "ps": Reading("ps", ReadEnd.OK, aged, at=READ_AT + 600),
        "loads": Reading("loads", ReadEnd.OK, LOADS),
    }
    result = run(CHECKS["processes"], readings, later("processes", first, 600))
    assert remedies(result) == {"process.hung": Remedy.WATCH}
    assert "python3 (48000)" in result.message


def test_another_process_of_the_same_number_does_not_hang() -> None:
    """It is younger; and a look that soon after another says nothing."""
    first = host("processes", ps=PS + STUCK)
    assert (
        host("processes", later("processes", first, 600), ps=PS + STUCK.replace("1000", "100")).verdict
        is Verdict.PASS
    )
    assert host("processes", later("processes", first, 60), ps=PS + STUCK).verdict is Verdict.PASS


@pytest.mark.parametrize("waiting", [None, ["x", "1 x", "1 " + "9" * 30, 5]])
def test_what_was_remembered_wrongly_was_never_remembered(waiting: object) -> None:
    """An older release may have kept something else."""
    first = host("processes", ps=PS + STUCK)
    expected = later("processes", first, 600)
    expected.run["before"]["processes"]["observed"]["waiting"] = waiting
    assert host("processes", expected, ps=PS + STUCK).verdict is Verdict.PASS


def test_many_old_zombies_are_watched() -> None:
    """A young one is about to be taken note of; kernel threads and what the profile ignores are left out."""
    many = "".join(f"Z   {5000 + nth}    1201  1005    9000 job\n" for nth in range(101))
    result = host("processes", ps=PS + many)
    assert remedies(result) == {"process.zombies": Remedy.WATCH}
    assert "101 processes have been zombies for more than 5 min" in result.message
    assert "and 96 more" in result.message


def test_a_process_of_a_user_that_belongs_to_no_job_is_watched() -> None:
    """What a job's daemon started belongs to it, however deep; what just began may belong to one that is starting."""
    job = "S    7000    1201     0    9000 slurmstepd\nS    7001    7000  1005    9000 bash\n"
    own = job + "R    7002    7001  1005    9000 python3\nS    7100       1  1005    9000 systemd\n"
    assert host("processes", ps=PS + own).verdict is Verdict.PASS
    left = "R    8000       1  1005    9000 python3\nR    8001    8000  1005      10 python3\n"
    result = host("processes", ps=PS + own + left)
    assert remedies(result) == {"process.left": Remedy.WATCH}
    assert result.message == "processes of users that belong to no job: python3 (8000)"
    assert host("processes", asked("processes", {"tenants_under": None}), ps=PS + left).verdict is Verdict.PASS


def test_processes_above_one_another_are_nobodys() -> None:
    """Numbers that go in a circle end the search."""
    circle = "S    7000    7001  1005    9000 a\nS    7001    7000  1005    9000 b\n"
    assert remedies(host("processes", ps=PS + circle)) == {"process.left": Remedy.WATCH}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("3.12 2.50", "612.00 2.50", "process.load"), ("\\t9223372036854775807", "\\t14000", "process.files")],
)
def test_a_node_that_is_too_busy_is_watched(old: str, new: str, code: str) -> None:
    """By its load, or by the files that are open."""
    assert remedies(host("processes", loads=LOADS.replace(old, new))) == {code: Remedy.WATCH}


@pytest.mark.parametrize(
    ("old", "new"), [("3.12 2.50", "x 2.50"), ("3.12 2.50 1.99 4/2411 41210", ""), ("12064", "x")]
)
def test_what_cannot_be_read_of_it_is_unknown(old: str, new: str) -> None:
    """Where the profile asks."""
    assert host("processes", loads=LOADS.replace(old, new)).verdict is Verdict.UNKNOWN


def test_nobody_need_ask_for_load_and_files() -> None:
    """Then they are not read."""
    alone = asked("processes", {"load_max": None, "open_files_share_max": None, "ignored": None})
    assert host("processes", alone, loads=None).verdict is Verdict.PASS
    assert host("processes", loads=LOADS.replace("\\t9223372036854775807", "\\t0")).verdict is Verdict.UNKNOWN


def test_more_processes_than_any_node_has_are_unknown() -> None:
    """Nothing reads them all."""
    readings = {"ps": Reading("ps", ReadEnd.OK, "\n" * 200_001)}
    assert run(CHECKS["processes"], readings, EXPECTED).verdict is Verdict.UNKNOWN
