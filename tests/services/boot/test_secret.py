"""The secret of a fleet's boot services: made once, whole, and read by nobody else."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.boot.secret import secret


def test_the_first_to_ask_makes_it_and_everybody_after_reads_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: secret(folder), range(32)))
    assert len(found) == 1
    assert len(found.pop()) == 32
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    secret(tmp_path)
    (tmp_path / "boot.key").chmod(0o640)
    with pytest.raises(SettingsError, match="others may read it, expected mode 0600"):
        secret(tmp_path)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, size: int) -> None:
    (tmp_path / "boot.key").write_bytes(b"k" * size)
    (tmp_path / "boot.key").chmod(0o600)
    with pytest.raises(SettingsError, match=f"found {size} bytes, expected 32"):
        secret(tmp_path)


def test_a_folder_in_the_way_is_an_error_a_person_can_act_on(tmp_path: Path) -> None:
    (tmp_path / "boot.key").mkdir(mode=0o700)
    with pytest.raises(SettingsError, match="expected a file of 32 bytes"):
        secret(tmp_path)
