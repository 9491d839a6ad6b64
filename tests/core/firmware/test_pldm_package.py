"""PLDM firmware packages, of every revision and of none."""

import struct
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.firmware import pldm_package
from fleet_runner.core.firmware.pldm_package import ComponentImage, Device
from tests.pldm import ENCODINGS, UUIDS, Part, header_size, package

VERSIONS = st.text("0123456789.abcXYZ_-", min_size=1, max_size=40).filter(lambda text: text == text.strip())
PARTS = st.lists(
    st.builds(
        Part,
        identifier=st.integers(0, 0xFFFF),
        version=VERSIONS,
        image=st.binary(max_size=20),
        classification=st.integers(0, 0xFFFF),
        stamp=st.integers(0, 0xFFFFFFFF),
    ),
    max_size=20,
)
REVISIONS = st.sampled_from(sorted(UUIDS))
EXAMPLE = {revision: package([Part(0x20, "96.00"), Part(0x10, "HGX-22")], revision=revision) for revision in UUIDS}


@given(PARTS, REVISIONS, VERSIONS, st.sampled_from(sorted(ENCODINGS)), st.integers(0, 5))
def test_a_package_is_read_as_it_was_made(
    parts: list[Part], revision: int, version: str, form: int, devices: int
) -> None:
    """Of every revision, and with texts in every encoding."""
    data = package(parts, revision=revision, version=version, form=form, devices=devices)
    found = pldm_package.parse(data, len(data))
    assert (found.revision, found.version) == (revision, version)
    assert (
        found.devices
        == (Device("set", ((0, b"\xde\x10"), (0x0100, b"\x20\x23")), tuple(range(len(parts)))),) * devices
    )
    offsets = [header_size(data) + sum(len(part.image) for part in parts[:index]) for index in range(len(parts))]
    assert found.components == tuple(
        ComponentImage(part.classification, part.identifier, part.stamp, part.version, offset, len(part.image))
        for part, offset in zip(parts, offsets, strict=True)
    )
    assert pldm_package.parse(data[: pldm_package.MOST_BYTES], len(data)) == found


@given(REVISIONS, st.data())
def test_a_header_that_was_cut_short_is_said(revision: int, data: st.DataObject) -> None:
    """Wherever it ends."""
    whole = EXAMPLE[revision]
    covered = header_size(whole) - (4 if revision == 4 else 0)
    end = data.draw(st.integers(0, covered - 1))
    with pytest.raises(EvidenceError):
        pldm_package.parse(whole[:end], len(whole))


@given(REVISIONS, st.data())
def test_a_header_with_one_wrong_bit_is_said(revision: int, data: st.DataObject) -> None:
    """Its checksum covers it all."""
    whole = bytearray(EXAMPLE[revision])
    covered = header_size(EXAMPLE[revision]) - (4 if revision == 4 else 0)
    bit = data.draw(st.integers(0, covered * 8 - 1))
    whole[bit // 8] ^= 1 << bit % 8
    with pytest.raises(EvidenceError):
        pldm_package.parse(bytes(whole), len(whole))


@given(REVISIONS, st.binary(max_size=400))
def test_whatever_follows_the_first_bytes_nothing_else_is_raised(revision: int, rest: bytes) -> None:
    """Lengths that lead nowhere, counts of things that are not there."""
    with pytest.raises(EvidenceError):
        pldm_package.parse(UUIDS[revision] + rest, 16 + len(rest))


@pytest.mark.parametrize("revision", sorted(UUIDS))
def test_a_package_whose_images_were_cut_short_is_said(revision: int) -> None:
    """The header is whole, the file is not."""
    whole = EXAMPLE[revision]
    with pytest.raises(EvidenceError, match="HGX-22 ends beyond; was it cut short"):
        pldm_package.parse(whole[:-1], len(whole) - 1)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"F" * 100])
def test_another_file_is_no_package(data: bytes) -> None:
    """Its first bytes say so."""
    assert not pldm_package.is_package(data)
    with pytest.raises(EvidenceError, match="does not begin as a PLDM package"):
        pldm_package.parse(data, len(data))


@pytest.mark.parametrize("revision", sorted(UUIDS))
def test_the_checksum_of_the_images_is_told_where_the_format_has_one(revision: int) -> None:
    """DSP0267 1.3 brought it; it is of every byte after the header."""
    whole = EXAMPLE[revision]
    found = pldm_package.parse(whole, len(whole))
    assert found.header_bytes == header_size(whole)
    assert found.payload_crc32 == (crc32(whole[found.header_bytes :]) if revision == 4 else None)
    assert found.downstream == (0 if revision == 1 else 1)


def test_an_image_that_begins_within_the_header_is_said() -> None:
    """It would be the header's own bytes that a device is given."""
    whole = bytearray(package([Part(0x20, "96.00")]))
    at = whole.index(struct.pack("<II", header_size(bytes(whole)), len(b"firmware")))
    struct.pack_into("<I", whole, at, 3)
    struct.pack_into("<I", whole, header_size(bytes(whole)) - 4, crc32(whole[: header_size(bytes(whole)) - 4]))
    with pytest.raises(EvidenceError, match=r"and 96\.00 begins in it"):
        pldm_package.parse(bytes(whole), len(whole))


def test_only_components_that_some_device_is_given_are_brought() -> None:
    """A table may hold more than any record names; what devices behind others are given is not looked into."""
    parts = [Part(0x20, "96.00"), Part(0x10, "HGX-22")]
    none = pldm_package.parse(package(parts, devices=0), 10_000)
    assert (len(none.components), none.given) == (2, ())
    some = pldm_package.parse(EXAMPLE[1], 10_000)
    assert some.given == some.components
    behind = pldm_package.parse(package(parts, revision=2, devices=0), 10_000)
    assert behind.given == behind.components
