"""What is made from files is made again when they change, and not otherwise."""

import os
from pathlib import Path

import pytest

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.boot.file_cache import Kept


class Maker:
    """Reads a file and counts how often."""

    def __init__(self, file: Path) -> None:
        self.file, self.times = file, 0

    def __call__(self) -> tuple[str, tuple[Path, ...]]:
        """Return what the file says."""
        self.times += 1
        if not self.file.exists():
            raise SettingsError("gone")
        return self.file.read_text("utf-8"), (self.file,)


def age(file: Path, seconds: float) -> None:
    """Make a file older than it is."""
    at = file.stat().st_mtime - seconds
    os.utime(file, (at, at))


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    (tmp_path / "file").write_text("one", "utf-8")
    age(tmp_path / "file", 60)
    return Maker(tmp_path / "file")


def test_it_is_made_once(maker: Maker) -> None:
    kept = Kept(maker)
    assert [kept(), kept()] == ["one", "one"]
    assert maker.times == 1


def test_it_is_made_again_after_a_change_of_the_same_size(maker: Maker) -> None:
    kept = Kept(maker)
    assert kept() == "one"
    maker.file.write_text("two", "utf-8")
    assert kept() == "two"


def test_a_second_change_in_the_same_moment_is_seen(maker: Maker) -> None:
    maker.file.write_text("two", "utf-8")
    at = maker.file.stat()
    kept = Kept(maker)
    assert kept() == "two"
    maker.file.write_text("six", "utf-8")
    os.utime(maker.file, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert kept() == "six"


def test_a_failure_is_not_kept(maker: Maker) -> None:
    kept = Kept(maker)
    maker.file.unlink()
    with pytest.raises(SettingsError):
        kept()
    maker.file.write_text("two", "utf-8")
    assert kept() == "two"


def test_what_no_file_makes_is_made_once() -> None:
    counted: list[int] = []

    def make() -> tuple[int, list[Path]]:
        counted.append(1)
        return len(counted), []

    kept = Kept(make)
    assert [kept(), kept()] == [1, 1]
