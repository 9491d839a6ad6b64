"""The catalogue of reads."""

from fleet_runner.core.evidence import ReadKind
from fleet_runner.core.reads import READS, SUPPLIED


def test_every_read_says_what_it_reads_and_for_how_long() -> None:
    """A command without argv or a resource without URI could never be read."""
    for name, read in READS.items():
        assert read.name == name
        assert bool(read.argv) is (read.kind is ReadKind.COMMAND)
        assert read.path.startswith("/redfish/v1/") is (read.kind is ReadKind.REDFISH)
        assert read.seconds > 0
        assert read.max_bytes > 0


def test_what_a_role_brings_itself_is_not_read_twice() -> None:
    """A name stands for one thing."""
    assert not SUPPLIED & set(READS)
