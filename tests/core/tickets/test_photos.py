"""What of a photo is kept, and what is no photo."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import PhotoError
from fleet_runner.core.tickets.photos import CUT, LONGEST, MOST_BYTES, SCANS, UNUSUAL, picture

START, END = b"\xff\xd8", b"\xff\xd9"
QUANTIZATION = b"\xff\xdb\x00\x43" + bytes(65)
HUFFMAN = b"\xff\xc4\x00\x05\x00\x00\x00"
ADOBE = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x01"
SCAN = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + b"pixels\xff\x00more\xff\xd0rest"
PLACE = b"\xff\xe1\x00\x0fExif\x00\x00N51.5W0"
SECRETS = (
    PLACE, b"\xff\xe0\x00\x10JFIF\x00" + bytes(9), b"\xff\xe2\x00\x06ICC_", b"\xff\xfe\x00\x09comment",
    b"\xff\xee\x00\x08Other\x00", b"\xff\xee\x00\x16" + ADOBE[4:] + b"N51.5W0.",
)  # fmt: skip


def frame(wide: int = 1600, high: int = 1200, code: int = 0xC0) -> bytes:
    return bytes([0xFF, code]) + b"\x00\x0b\x08" + high.to_bytes(2) + wide.to_bytes(2) + b"\x01\x01\x11\x00"


def refused(body: bytes) -> str:
    with pytest.raises(PhotoError) as said:
        picture(body)
    return str(said.value)


PLAIN = START + QUANTIZATION + frame() + HUFFMAN + SCAN + END


def test_a_picture_without_anything_else_stays_as_it_is() -> None:
    assert picture(PLAIN) == PLAIN
    coloured = START + ADOBE + PLAIN[2:]
    assert picture(coloured) == coloured


@pytest.mark.parametrize("secret", SECRETS)
def test_what_is_no_part_of_the_picture_goes(secret: bytes) -> None:
    assert picture(START + secret + PLAIN[2:]) == PLAIN
    assert picture(PLAIN[:-2] + secret + END) == PLAIN


def test_what_stands_behind_the_picture_goes() -> None:
    assert picture(PLAIN + b"<script>alert(1)</script>" + PLACE) == PLAIN


def test_a_progressive_picture_has_several_scans_and_not_too_many() -> None:
    begun = START + QUANTIZATION + frame(code=0xC2)
    several = begun + (HUFFMAN + SCAN) * 10 + END
    assert picture(several) == several
    assert refused(begun + SCAN * (SCANS + 1) + END) == CUT


@pytest.mark.parametrize("body", [
    b"", b"<html><script>alert(1)</script></html>", b'<svg xmlns="http://www.w3.org/2000/svg"/>',
    b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF\x00\x00\x00\x00WEBP", b"PK\x03\x04", PLAIN[1:],
])  # fmt: skip
def test_what_is_no_jpeg_is_not_taken_whatever_its_name(body: bytes) -> None:
    assert refused(body) == "this is no JPEG; send a photo as JPEG"


@pytest.mark.parametrize("cut", range(2, len(PLAIN)))
def test_a_photo_that_is_cut_off_is_not_taken(cut: int) -> None:
    assert refused(PLAIN[:cut]) == CUT


@pytest.mark.parametrize("body", [
    START + END, START + b"<script>" + PLAIN[2:], START + b"\xff\xd0" + PLAIN[2:], START + SCAN + frame() + END,
    START + b"\xff\xfe\x00\x01" + PLAIN[2:], START + frame() + END, START + frame(0, 9) + SCAN + END,
    START + frame(9, 0) + SCAN + END,
    START + b"\xff\xc0\x00\x04\x08\x00" + SCAN + END, START + b"\xff\x00\x00\x04\x08\x00" + PLAIN[2:],
])  # fmt: skip
def test_a_damaged_photo_is_not_taken(body: bytes) -> None:
    assert refused(body) == CUT


@pytest.mark.parametrize(("wide", "high"), [(65_535, 65_535), (LONGEST + 1, 1), (1, LONGEST + 1)])
def test_a_photo_that_would_fill_a_phones_memory_is_not_taken(wide: int, high: int) -> None:
    assert refused(START + frame(wide, high) + SCAN + END) == (
        f"the photo is {wide} x {high} pixels; send one of at most {LONGEST} on a side"
    )


@pytest.mark.parametrize("code", [0xC3, 0xC9, 0xDC])
def test_a_kind_that_browsers_do_not_show_is_not_taken(code: int) -> None:
    assert refused(START + frame(code=code) + SCAN + END) == UNUSUAL
    assert refused(START + frame() + frame() + SCAN + END) == UNUSUAL


def test_a_photo_that_is_too_large_is_not_taken() -> None:
    assert refused(PLAIN + bytes(MOST_BYTES)) == "the photo has more than 2,048 KiB; send a smaller one"


@given(st.binary(max_size=400), st.integers(0, len(PLAIN)))
def test_whatever_comes_what_is_kept_is_a_jpeg_that_is_kept_again(noise: bytes, at: int) -> None:
    try:
        kept = picture(PLAIN[:at] + noise + PLAIN[at:])
    except PhotoError:
        return
    assert kept.startswith(START)
    assert kept.endswith(END)
    assert picture(kept) == kept
