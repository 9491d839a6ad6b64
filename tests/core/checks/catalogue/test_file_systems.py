"""Is everything mounted that should be."""

import json

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import mounts
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, host
from tests.core.checks.catalogue.judging import HEALTHY, remedies
from tests.core.checks.healthy import text_of

MOUNTS, DF = HEALTHY["file_systems"]["findmnt"], HEALTHY["file_systems"]["df"]


def test_what_is_not_mounted_is_a_fault() -> None:
    """A boot mounts it again."""
    result = host("file_systems", findmnt=MOUNTS.replace('"/raid"', '"/other"'))
    assert remedies(result) == {"fs.missing": Remedy.REBOOT}
    assert result.findings[0].component == "/raid"


@pytest.mark.parametrize("options", ["ro,relatime", "rw,emergency_ro", "rw,shutdown"])
def test_what_cannot_be_written_to_is_a_fault(options: str) -> None:
    """The file system gave itself up, or somebody mounted it so."""
    result = host("file_systems", findmnt=MOUNTS.replace("rw,noatime", options))
    assert remedies(result) == {"fs.read_only": Remedy.REBOOT}
    assert result.message == "/raid (/dev/md1, xfs) is read-only, expected read-write"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("1500000000000 ", " 180000000000 ", "10.0% of its space"), (" 110000000 /", "   2000000 /", "of its inodes")],
)
def test_a_file_system_that_fills_is_watched(old: str, new: str, said: str) -> None:
    """Of space or of inodes."""
    result = host("file_systems", df=DF.replace(old, new, 1))
    assert remedies(result) == {"fs.full": Remedy.WATCH}
    assert said in result.message


def test_how_full_a_local_file_system_is_must_be_told() -> None:
    """One of a server is not asked: it may hang."""
    assert host("file_systems", df=None).verdict is Verdict.UNKNOWN
    assert host("file_systems", df=DF.replace("/raid", "/x")).message == "df does not report how full /raid is"
    alone = asked("file_systems", {"free_share_min": None, "free_inodes_share_min": None})
    assert host("file_systems", alone, df=None).verdict is Verdict.PASS


def test_one_that_counts_nothing_is_not_full() -> None:
    """Some file systems have no inodes."""
    assert host("file_systems", df=DF.replace("111714304 110000000", "        0         -")).verdict is Verdict.PASS


def test_what_the_kernel_logs_has_its_remedy() -> None:
    """An error that made it read-only is a boot's matter; a file server's is none of the node's."""
    result = host("file_systems", dmesg=text_of("dmesg/host_faults.txt"))
    found = {(each.code, each.component, each.remedy) for each in result.findings}
    assert found == {
        ("fs.errors", "md0", Remedy.REBOOT),
        ("fs.errors", "md1", Remedy.REBOOT),
        ("fs.errors", "sdb1", Remedy.REBOOT),
        ("fs.logged", "md0", Remedy.WATCH),
        ("fs.logged", "dm-0", Remedy.WATCH),
        ("fs.beyond", "disks", Remedy.WATCH),
        ("fs.server", "nfs1.example", Remedy.RECORD),
    }


LUSTRE = """\
2026-11-28T02:00:00,000000+00:00 Linux version 6.8.0
2026-11-28T02:10:00,000000+00:00 Lustre: scratch-OST0001-osc-ff01: Connection to scratch-OST0001 (at 10.0.0.9@o2ib)\
 was lost; in progress operations using this service will wait for recovery to complete
2026-11-28T02:10:09,000000+00:00 LustreError: 166-1: MGC10.0.0.8@o2ib: Connection to MGS (at 10.0.0.8@o2ib) was lost;\
 in progress operations using this service will fail
2026-11-28T02:11:00,000000+00:00 LustreError: 167-0: scratch-MDT0000-mdc-ffff0001: This client was evicted by\
 scratch-MDT0000; in progress operations using this service will fail.
2026-11-28T02:12:00,000000+00:00 Lustre: scratch-OST0001-osc-ffff0001: Connection restored to 10.0.0.9@o2ib
"""


def test_lustre_servers_that_were_away_or_threw_the_node_out_are_recorded() -> None:
    """It is no fault of the node, and the first thing that a job's owner asks. What quotes it counts for nothing."""
    found = {(each.code, each.component): each.message for each in host("file_systems", dmesg=LUSTRE).findings}
    assert found.keys() == {
        ("fs.server", "scratch-OST0001"),
        ("fs.server", "MGS"),
        ("fs.evicted", "scratch-MDT0000"),
    }
    assert "logged once, last at 2026-11-28 02:11:00 UTC" in found["fs.evicted", "scratch-MDT0000"]
    quoted = LUSTRE.replace("+00:00 Lustre", "+00:00 logger: Lustre")
    assert host("file_systems", dmesg=quoted).findings == ()


def test_a_mount_whose_options_are_not_told_is_unknown() -> None:
    """Nobody knows whether it can be written to."""
    silent = MOUNTS.replace('"options": "rw,noatime,attr2"', '"options": null')
    assert host("file_systems", findmnt=silent).message == "findmnt does not report how /raid is mounted"


@pytest.mark.parametrize("row", [{"target": 3, "options": "rw"}, {"options": "rw"}])
def test_a_mount_that_is_none_is_refused(row: object) -> None:
    """UNKNOWN, not missing."""
    with pytest.raises(EvidenceError, match="expected a mount"):
        mounts.mounts(json.dumps({"filesystems": [row]}))


def test_more_mounts_than_any_node_has_are_refused() -> None:
    """Nothing reads them all."""
    rows = [{"target": f"/{nth}", "options": "rw"} for nth in range(mounts.MOST + 1)]
    with pytest.raises(EvidenceError, match="more than"):
        mounts.mounts(json.dumps({"filesystems": rows}))


def test_the_last_mount_at_a_place_hides_the_others() -> None:
    """What lies below is not seen by anybody."""
    rows = [{"target": "/a", "options": "ro", "fstype": "ext4"}, {"target": "/a", "options": "rw", "fstype": "xfs"}]
    assert mounts.mounts(json.dumps({"filesystems": rows}))["/a"].type == "xfs"
