"""Nothing of an image is served that is not what its manifest says, and a build stays what it was."""

import asyncio
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.base.errors import ImageError
from fleet_runner.services.boot.images import Images, names, verified

KERNEL, ROOT = b"a kernel", b"a root file system"
BUILD = "debian-12@0123456789abcdef"


def an_image(folder: Path, **files: bytes) -> Path:
    """Write an image's files and the manifest that says so."""
    folder.mkdir(parents=True, exist_ok=True)
    bodies = {"vmlinuz": KERNEL, "initrd.zst": ROOT, **files}
    for name, body in bodies.items():
        (folder / name).write_bytes(body)
    sums = {name: {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()} for name, body in bodies.items()}
    told: dict[str, Any] = {"kernel": {"file": "vmlinuz"}, "initrd": "initrd.zst", "cmdline": "quiet", "files": sums}
    (folder / "manifest.json").write_text(json.dumps(told), "utf-8")
    return folder


def read(images: Images, name: str, file: str) -> bytes:
    """Return a file of an image as it would be sent."""

    async def reading() -> bytes:
        path, checksum = await images.file(await images.image(name), file)
        body = path.read_bytes()
        assert hashlib.sha256(body).hexdigest() == checksum
        return body

    return asyncio.run(reading())


def test_what_is_as_its_manifest_says_is_served(tmp_path: Path) -> None:
    an_image(tmp_path / "debian-12")
    assert read(Images(tmp_path), "debian-12", "vmlinuz") == KERNEL


@pytest.mark.parametrize(
    ("body", "says"),
    [(KERNEL[:-1], "SHA-256 is that of 7 bytes instead of 8"), (b"A kernel", "SHA-256 is ")],
)
def test_a_file_that_differs_from_its_manifest_is_refused(tmp_path: Path, body: bytes, says: str) -> None:
    (an_image(tmp_path / "debian-12") / "vmlinuz").write_bytes(body)
    with pytest.raises(ImageError, match=says):
        read(Images(tmp_path), "debian-12", "vmlinuz")


def test_a_file_that_changes_while_images_are_served_is_refused_from_then_on(tmp_path: Path) -> None:
    folder, images = an_image(tmp_path / "debian-12"), Images(tmp_path)
    read(images, "debian-12", "vmlinuz")
    (folder / "new").write_bytes(b"A kernel")
    os.utime(folder / "new", ns=(0, (folder / "vmlinuz").stat().st_mtime_ns))
    (folder / "new").replace(folder / "vmlinuz")
    for _ in range(2):
        with pytest.raises(ImageError, match=r"vmlinuz: SHA-256 is .*; build the image again"):
            read(images, "debian-12", "vmlinuz")
    assert read(images, "debian-12", "initrd.zst") == ROOT


def test_a_file_is_read_whole_once_however_many_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    an_image(tmp_path / "debian-12")
    found: list[Path] = []

    def count(path: Path) -> str:
        found.append(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr("fleet_runner.services.boot.images._sha256", count)
    images = Images(tmp_path)

    async def reading() -> None:
        image = await images.image("debian-12")
        await asyncio.gather(*(images.file(image, "vmlinuz") for _ in range(20)))

    asyncio.run(reading())
    assert found == [tmp_path / "debian-12" / "vmlinuz"]


def test_a_manifest_is_looked_at_once_in_a_while_however_many_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_image(tmp_path / "debian-12")
    images, looks = Images(tmp_path, seconds=60.0), list[Path]()

    def look(path: Path) -> tuple[int, int, int]:
        looks.append(path)
        return (1, 1, 1)

    monkeypatch.setattr("fleet_runner.services.boot.images._stamp", look)

    async def asking() -> None:
        for _ in range(20):
            await images.image("debian-12")

    asyncio.run(asking())
    assert looks == [tmp_path / "debian-12" / "manifest.json"]


def test_an_image_that_is_built_anew_is_the_new_one_and_its_build_before_stays(tmp_path: Path) -> None:
    an_image(tmp_path / ".builds" / BUILD)
    newer = BUILD.replace("0", "f")
    an_image(tmp_path / ".builds" / newer, vmlinuz=b"a newer kernel")
    images, link = Images(tmp_path, seconds=0.0), tmp_path / "debian-12"
    link.symlink_to(f".builds/{BUILD}")
    assert asyncio.run(images.image("debian-12")).build == BUILD
    link.unlink()
    link.symlink_to(f".builds/{newer}")
    assert asyncio.run(images.image("debian-12")).build == newer
    assert read(images, "debian-12", "vmlinuz") == b"a newer kernel"
    assert read(images, BUILD, "vmlinuz") == KERNEL


@pytest.mark.parametrize("name", ["../debian-12", ".builds", "debian-12/..", "", "debian-12\0", f"x/{BUILD}"])
def test_a_name_leads_nowhere_but_to_images(tmp_path: Path, name: str) -> None:
    an_image(tmp_path / "debian-12")
    with pytest.raises(ImageError, match="not a valid image name"):
        read(Images(tmp_path), name, "vmlinuz")


@pytest.mark.parametrize("file", ["manifest.json", "../debian-12/vmlinuz", "", "vmlinuz/"])
def test_only_what_the_manifest_names_is_served(tmp_path: Path, file: str) -> None:
    an_image(tmp_path / "debian-12")
    with pytest.raises(ImageError, match="it has no file"):
        read(Images(tmp_path), "debian-12", file)


def test_an_image_that_is_not_there_names_the_playbook_that_builds_it(tmp_path: Path) -> None:
    with pytest.raises(
        ImageError, match=r"No such file or directory; build the image with playbooks/boot_image\.yml"
    ):
        read(Images(tmp_path), "debian-12", "vmlinuz")


@pytest.mark.parametrize("text", ["{", '{"kernel": 3}', "\udcff"])
def test_a_manifest_that_cannot_be_read_is_named_with_what_is_wrong(tmp_path: Path, text: str) -> None:
    folder = an_image(tmp_path / "debian-12")
    (folder / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ImageError, match=r"debian-12/manifest\.json: .*; build the image again"):
        read(Images(tmp_path), "debian-12", "vmlinuz")


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    folder = an_image(tmp_path / "debian-12")
    (folder / "vmlinuz").unlink()
    os.mkfifo(folder / "vmlinuz")
    with pytest.raises(ImageError, match="not a regular file"):
        read(Images(tmp_path), "debian-12", "vmlinuz")


def test_a_folder_of_images_lists_images_alone(tmp_path: Path) -> None:
    an_image(tmp_path / ".builds" / BUILD)
    (tmp_path / "debian-12").symlink_to(f".builds/{BUILD}")
    (tmp_path / "gone").symlink_to(".builds/gone")
    (tmp_path / ".recipes").mkdir()
    (tmp_path / "README").write_text("images", "utf-8")
    assert names(tmp_path) == ["debian-12", "gone"]
    assert names(tmp_path / "nowhere") == []


def test_an_image_is_verified_whole(tmp_path: Path) -> None:
    folder = an_image(tmp_path / "debian-12")
    assert verified(tmp_path, "debian-12").manifest.cmdline == "quiet"
    (folder / "initrd.zst").write_bytes(ROOT.upper())
    with pytest.raises(ImageError, match=r"initrd\.zst: SHA-256 is "):
        verified(tmp_path, "debian-12")
