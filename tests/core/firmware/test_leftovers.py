"""What is staged before a flash begins is named, with whose it is."""

from fleet_runner.core.firmware.flash import End, Task, TaskEnd
from fleet_runner.core.firmware.leftovers import staged
from tests.core.firmware.bmc_model import a_flash

JOB = Task("/t/7", TaskEnd.STAGED, "Firmware Update: BIOS")
CONFIG = Task("/t/9", TaskEnd.STAGED, "ConfigBIOS:BIOS.Setup.1-1")


def test_nothing_is_said_where_nothing_is_staged() -> None:
    assert staged([Task("/t/1", TaskEnd.DONE), Task("/t/2", TaskEnd.RUNNING)], []) == ""


def test_a_task_that_a_flash_left_behind_is_named_with_it() -> None:
    other = a_flash(id=3, task="/t/3", end=End.VERIFIED)
    said = staged([JOB], [other, a_flash(id=4, task="/t/7", end=End.FAILED)])
    assert "task Firmware Update: BIOS staged at /t/7, which is left over from flash 4 (AB), which has failed" in said
    assert "has not ended" in staged([JOB], [a_flash(id=4, task="/t/7")])


def test_somebody_elses_is_told_of_and_how_many_more_there_are() -> None:
    said = staged([CONFIG, JOB, CONFIG], [])
    assert "staged at /t/7 (and 2 more), which was not begun by fleet-runner" in said
    assert "until it is done or deleted" in said


def test_a_job_of_bios_settings_may_be_our_own() -> None:
    """Whose it is no job tells: it is said so where we have set some, and only of such a job."""
    said = staged([CONFIG], [], bios=True)
    assert "which is of BIOS settings, as fleet-runner has set some: if it is that, restart the host once;" in said
    assert "was not begun by fleet-runner" in staged([JOB], [], bios=True)
    assert "was not begun by fleet-runner" in staged([Task("/t/9", TaskEnd.STAGED, "Export")], [], bios=True)
    assert "left over from flash 4" in staged([CONFIG], [a_flash(id=4, task="/t/9")], bios=True)
