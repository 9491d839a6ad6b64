"""What the role left behind: a drive of zeros, erased once, with proof in the spool and in the node's history."""

from testinfra.host import Host

from fleet_runner.adapters.store import Store
from tests.scenario import found

DRIVE, SIZE = found.FOLDER / "nvme1n1", 65_536


def test_nothing_is_left_on_the_drive(host: Host) -> None:
    """It held something, and is as large as it was."""
    assert host.file(str(DRIVE)).size == SIZE
    assert not DRIVE.read_bytes().strip(b"\0")


def test_it_was_erased_once() -> None:
    """The second run found the first one's log."""
    (call,) = (call for call in found.asked() if call.startswith("nvme format"))
    assert str(DRIVE) in call
    assert len(list((found.FOLDER / "wipes").glob("*/disk-S1.*.json"))) == 1


def test_that_is_proven() -> None:
    """In the spool, and by whom it was ordered in the node's history."""
    assert found.verdicts() == {"wiped": found.PASS}
    with Store.open(f"sqlite:///{found.FOLDER}/state/fleet.db") as store:
        (entry,) = store.history("gpu-01", kind="wipe")
    assert "serial S1) by format_erase" in entry.sentence
