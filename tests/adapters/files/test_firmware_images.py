"""Firmware images on disk: what is refused before anything is sent, and how it is said."""

import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.files import firmware_images
from fleet_runner.adapters.files.firmware_images import check
from fleet_runner.core.base.errors import ImageError
from fleet_runner.core.firmware.catalogue import Image
from tests.pldm import Part, package

MIB = 1 << 20


def put(folder: Path, data: bytes, name: str = "bios.bin") -> Image:
    """Put a file among the images, and return what a catalogue says of it."""
    folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
    folder.joinpath(name).write_bytes(data)
    return Image("2.1", name, hashlib.sha256(data).hexdigest())


def told(folder: Path, image: Image, wanted: dict[str, str], software_ids: dict[str, str]) -> str:
    """Return what is said of an image; "" where it is all right."""
    try:
        check(folder, image, wanted, software_ids)
    except ImageError as error:
        return str(error)
    return ""


def test_the_catalogues_image_is_all_right(tmp_path: Path) -> None:
    """Also in a folder of its own, and by a link that stays within."""
    image = put(tmp_path, b"firmware", "smc/bios.bin")
    check(tmp_path, image, {"BIOS": "2.1"}, {})
    (tmp_path / "link.bin").symlink_to("smc/bios.bin")
    check(tmp_path, Image("2.1", "link.bin", image.sha256), {"BIOS": "2.1"}, {"BIOS": "0x20"})


def test_one_wrong_byte_is_said(tmp_path: Path) -> None:
    """With both checksums, and what to do."""
    image = put(tmp_path, b"firmware")
    (tmp_path / "bios.bin").write_bytes(b"firmwore")
    found = hashlib.sha256(b"firmwore").hexdigest()
    assert told(tmp_path, image, {}, {}) == (
        f"{tmp_path}/bios.bin has the SHA-256 {found}, expected {image.sha256};"
        " fetch it again, or correct the catalogue"
    )


@pytest.mark.parametrize("file", ["gone.bin", "smc/gone.bin", "a\0b", "x" * 300])
def test_an_image_that_is_not_there_is_said(tmp_path: Path, file: str) -> None:
    """By the path where it is looked for."""
    assert "is not there; put the image there, or correct the catalogue" in told(
        tmp_path, Image("1", file, ""), {}, {}
    )


def test_a_folder_is_no_image(tmp_path: Path) -> None:
    """Nor is a pipe, at which one would wait for ever."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        assert f"{tmp_path}/{name} is no file" in told(tmp_path, Image("1", name, ""), {}, {})


@pytest.mark.parametrize("file", ["../outside.bin", "link.bin", "folder/outside.bin"])
def test_nothing_outside_the_folder_is_sent(tmp_path: Path, file: str) -> None:
    """Whether a name or a link leads there."""
    folder = tmp_path / "images"
    folder.mkdir()
    image = put(tmp_path, b"secret", "outside.bin")
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    (folder / "folder").symlink_to(tmp_path)
    assert "lies outside" in told(folder, Image("1", file, image.sha256), {}, {})


def test_a_loop_of_links_is_not_there(tmp_path: Path) -> None:
    """Python raises an error of its own for it."""
    (tmp_path / "loop").symlink_to("loop")
    assert "is not there" in told(tmp_path, Image("1", "loop", ""), {}, {})


def test_a_file_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    """A checksum is remembered for one file, not for a name."""
    image = put(tmp_path, b"firmware")
    assert told(tmp_path, image, {}, {}) == ""
    moment = (tmp_path / "bios.bin").stat().st_mtime_ns
    other = tmp_path / "new.bin"
    other.write_bytes(b"firmwore")
    os.utime(other, ns=(moment, moment))
    other.replace(tmp_path / "bios.bin")
    assert "has the SHA-256" in told(tmp_path, image, {}, {})


def test_a_checksum_is_reckoned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred nodes are given one image."""
    image = put(tmp_path, b"firmware")
    check(tmp_path, image, {}, {})
    monkeypatch.delattr(hashlib, "file_digest")
    check(tmp_path, image, {}, {})


def test_a_file_that_is_still_being_written_is_said(tmp_path: Path) -> None:
    """Its checksum would be of nothing that there ever was."""
    put(tmp_path, b"firmware")
    pieces: list[bytes] = [b"more"]

    def grow() -> None:
        with (tmp_path / "bios.bin").open("ab") as growing:
            growing.write(pieces.pop() if pieces else b"")

    with pytest.raises(ImageError, match="changes while it is read; wait until it is complete"):
        firmware_images.sha256(tmp_path / "bios.bin", grow)


def test_a_long_file_is_read_only_while_whoever_reads_it_may(tmp_path: Path) -> None:
    with (tmp_path / "big.bin").open("wb") as file:
        file.truncate(64 * MIB)
    asked: list[None] = []
    firmware_images.sha256(tmp_path / "big.bin", lambda: asked.append(None))
    assert len(asked) >= 64
    firmware_images.sha256(tmp_path / "big.bin", asked.clear)  # it is known by now
    assert asked


def test_an_image_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    """64 MiB, of which a small part is held at a time."""
    with (tmp_path / "big.bin").open("wb") as file:
        file.truncate(64 * MIB)
    tracemalloc.start()
    try:
        firmware_images.sha256(tmp_path / "big.bin")
        assert tracemalloc.get_traced_memory()[1] < 4 * MIB
    finally:
        tracemalloc.stop()


HGX = [Part(0x0010, "HGX-22.10-1-rc57"), Part(0x0020, "96.00.89.00.01"), Part(0xFF00, "00.02.0150.0000_n00")]
IDS = {"HGX_FW_BMC_0": "0x0010", "HGX_FW_GPU_SXM_1": "0x0020", "HGX_FW_ERoT_BMC_0": "0xff00"}


@pytest.mark.parametrize("revision", [1, 2, 3, 4])
def test_a_package_for_these_entries_is_all_right(tmp_path: Path, revision: int) -> None:
    """Each has its component, by its software id, in the version that is wanted."""
    image = put(tmp_path, package(HGX, revision=revision))
    wanted = dict(zip(IDS, (part.version for part in HGX), strict=True))
    assert told(tmp_path, image, wanted, IDS) == ""


def test_a_package_for_another_board_is_said(tmp_path: Path) -> None:
    """Its components are for other software ids."""
    image = put(tmp_path, package(HGX[:2]))
    assert told(tmp_path, image, {"NVSwitch_0": "96.10"}, {"NVSwitch_0": "0x0070"}) == (
        f"{tmp_path}/bios.bin is a PLDM package for 0x0010, 0x0020, expected 0x0070, which NVSwitch_0 is;"
        " correct the catalogue"
    )
    assert "is a PLDM package for nothing" in told(tmp_path, put(tmp_path, package([])), {"A": "1"}, {"A": "0x1"})


def test_a_package_of_another_version_is_said(tmp_path: Path) -> None:
    """The catalogue names one file and means another."""
    image = put(tmp_path, package(HGX))
    assert told(tmp_path, image, {"HGX_FW_GPU_SXM_1": "96.00.A5.00.01"}, IDS) == (
        f"{tmp_path}/bios.bin brings HGX_FW_GPU_SXM_1 version 96.00.89.00.01, expected 96.00.A5.00.01;"
        " correct the catalogue"
    )


@pytest.mark.parametrize("software_id", ["", "159", "0xGPU", "0x"])
def test_without_a_software_id_a_package_must_still_bring_the_version(tmp_path: Path, software_id: str) -> None:
    """A DGX's BMC tells none; Dell's are another sort of number."""
    image = put(tmp_path, package(HGX))
    assert told(tmp_path, image, {"GPU": "96.00.89.00.01"}, {"GPU": software_id}) == ""
    assert "expected 2.1" in told(tmp_path, image, {"GPU": "2.1"}, {"GPU": software_id})


@pytest.mark.parametrize(
    ("inventory", "packaged", "same"),
    [
        ("2.7.19", "2.07.19", True),
        ("BIOS Date: 08/04/2023 Ver 1.4", "1.4", True),
        ("96.00.a5.00.01", "96.00.A5.00.01", True),
        ("HGX-22.10-1-rc57", "HGX-22.10-1-rc57", True),
        ("7", "7", True),
        ("1.4", "1.40", False),
        ("2.1", "1", False),
        ("1.4", "", False),
        ("96.00.89.00.01", "96.00.89.00.02", False),
        ("rc5", "rc57", False),
    ],
)
def test_versions_are_the_same_however_they_are_written(
    tmp_path: Path, inventory: str, packaged: str, *, same: bool
) -> None:
    """With leading zeros, in other letters, or with a date beside."""
    image = put(tmp_path, package([Part(0x20, packaged)]))
    assert (told(tmp_path, image, {"X": inventory}, {"X": "0x20"}) == "") is same


def test_a_package_whose_images_were_changed_is_said(tmp_path: Path) -> None:
    """Somebody took the SHA-256 of a damaged file into the catalogue; its own checksum still tells (DSP0267 1.3)."""
    whole = bytearray(package(HGX, revision=4))
    sound = put(tmp_path, bytes(whole))
    wanted = {"HGX_FW_GPU_SXM_1": "96.00.89.00.01"}
    assert told(tmp_path, sound, wanted, IDS) == told(tmp_path, sound, wanted, IDS) == ""
    whole[-1] ^= 1
    assert "a PLDM package whose images have the checksum" in told(tmp_path, put(tmp_path, bytes(whole)), wanted, IDS)


def test_a_component_that_no_device_is_given_is_not_brought(tmp_path: Path) -> None:
    """It stands in the table, and the BMC would send it to nothing."""
    image = put(tmp_path, package(HGX, devices=0))
    assert "is a PLDM package for nothing, expected 0x0020" in told(
        tmp_path, image, {"HGX_FW_GPU_SXM_1": "96.00.89.00.01"}, IDS
    )
    assert "expected some component, which X is" in told(tmp_path, image, {"X": "96.00.89.00.01"}, {})


@given(end=st.integers(16, 200))
def test_a_package_that_was_cut_short_is_said(tmp_path_factory: pytest.TempPathFactory, end: int) -> None:
    """Even if somebody took the checksum of what was left."""
    whole = package(HGX)
    folder = tmp_path_factory.mktemp("images")
    image = put(folder, whole[: min(end, len(whole) - 1)])
    assert "PLDM package" in told(folder, image, {}, {})
