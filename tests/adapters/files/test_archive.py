"""An archive for people elsewhere: scrubbed, bounded, and safe to unpack."""

import gzip
import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from fleet_runner.adapters.files import archive
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.redaction import Scrubber

SECRET = "hunter2hunter2"


def opened(path: Path) -> dict[str, bytes]:
    """Unpack an archive in memory, and see that nothing in it could lead out of its folder."""
    data = path.read_bytes()
    if path.name.endswith(".zst"):
        data = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = tar.getmembers()
        assert all(
            each.isreg() and not each.name.startswith("/") and ".." not in each.name.split("/") for each in members
        )
        files = {each.name: tar.extractfile(each) for each in members}
        return {name: file.read() for name, file in files.items() if file is not None}


@pytest.mark.parametrize("name", ["out.tar.gz", "out.tar.zst"])
def test_texts_and_files_are_packed_without_their_secrets(tmp_path: Path, name: str) -> None:
    """Packed ones, too."""
    (tmp_path / "plain").write_text(f"a {SECRET}\n")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(f"b {SECRET}\n".encode()))
    with archive.writing(tmp_path / name, "folder", Scrubber([SECRET])) as into:
        into.text("x.txt", f"c {SECRET}\n")
        into.file("plain.txt", tmp_path / "plain")
        into.file("packed.gz", tmp_path / "packed.gz")
    found = opened(tmp_path / name)
    assert set(found) == {"folder/x.txt", "folder/plain.txt", "folder/packed.gz"}
    assert SECRET.encode() not in b"".join(found.values()) + gzip.decompress(found["folder/packed.gz"])
    assert gzip.decompress(found["folder/packed.gz"]) == b"b [removed]\n"
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_what_a_node_may_have_put_there_is_not_followed(tmp_path: Path) -> None:
    """A link, a pipe, a folder: left out, and said; a name that leads elsewhere does not."""
    (tmp_path / "link").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dir").mkdir()
    with archive.writing(tmp_path / "o.tar.gz", "f", Scrubber()) as into:
        for each in ("link", "pipe", "dir", "none"):
            into.file(each, tmp_path / each)
        into.text("../../etc/passwd", "x")
        into.text("/abs/.hidden\x1b", "x")
    assert set(opened(tmp_path / "o.tar.gz")) == {"f/_/_/etc/passwd", "f/abs/hidden_"}
    assert len(into.left_out) == 4


def test_it_is_bounded_and_says_what_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what is small only as long as it is packed."""
    monkeypatch.setattr(archive, "FILE_BYTES", 1_000_000)
    monkeypatch.setattr(archive, "TOTAL_BYTES", 1_500_000)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"\0" * 50_000_000))
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8bnot gzip")
    with archive.writing(tmp_path / "o.tar.gz", "f", Scrubber()) as into:
        into.text("one.txt", "a line\n" * 200_000)
        into.file("bad.gz", tmp_path / "bad.gz")
        into.file("bomb.gz", tmp_path / "bomb.gz")
        into.text("two.txt", "a line\n" * 200_000)
        into.text("three.txt", "a line\n")
    assert into.size <= 1_500_000
    assert any("one.txt: cut after" in each for each in into.left_out)
    assert any("bad.gz: it cannot be read" in each for each in into.left_out)
    assert any(each.startswith("bomb.gz: cut after") for each in into.left_out)


def test_another_name_or_a_file_that_is_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there.tar.gz").write_text("mine")
    monkeypatch.setattr(archive, "ZSTD", "no-such-zstd")
    for name, why in (("x.zip", "expected a name"), ("there.tar.gz", "is there already"), ("x.tar.zst", "is not on")):
        with pytest.raises(FleetError, match=why), archive.writing(tmp_path / name, "f", Scrubber()):
            pass
    with (
        pytest.raises(FleetError, match="nothing was written"),
        archive.writing(tmp_path / "no/x.tar.gz", "f", Scrubber()),
    ):
        pass
    assert (tmp_path / "there.tar.gz").read_text() == "mine"


def test_nothing_is_left_of_an_archive_that_was_not_finished(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), archive.writing(tmp_path / "x.tar.gz", "f", Scrubber()):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []
