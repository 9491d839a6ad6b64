"""What the role left behind: files that nobody else can read, and in the spool what there is and what not."""

import gzip

from tests.scenario import found

STAY = found.FOLDER / "state" / "bundles" / "gpu-01" / "1740821000000"


def test_what_the_node_has_is_in_files_of_the_stay() -> None:
    """The second run replaced those of the first."""
    assert gzip.decompress((STAY / "nvidia-bug-report.log.gz").read_bytes()) == b"the node's report\n"
    assert (STAY / "dmesg.txt").read_text() == (found.PROJECT / "tests/evidence/dmesg/boot.txt").read_text()
    assert {path.stat().st_mode & 0o777 for path in STAY.iterdir()} == {0o600}


def test_it_is_said_what_there_is_and_what_not() -> None:
    """A node without a BMC has no logs of one."""
    assert found.verdicts() == {"gathered": found.PASS}
    assert all("bmc-logs.json: no fleet_bmc_url is known" in each.message for each in found.results()["gathered"])
