"""What machines send is read as they mean it, and never as anything else."""

from base64 import b64encode
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.form import MOST_KEYS, PhonedForm, fields, phoned

NAMES = st.text(min_size=1, max_size=8)


def blob(kind: str) -> str:
    return b64encode(len(kind).to_bytes(4, "big") + kind.encode() + b"\0\0\0\x20" + b"k" * 32).decode()


ED = f"ssh-ed25519 {blob('ssh-ed25519')}"


@given(st.dictionaries(NAMES, st.text(max_size=20), max_size=6))
def test_a_form_is_read_as_it_was_written(form: dict[str, str]) -> None:
    assert fields(urlencode(form).encode(), plus=True) == form


@given(st.dictionaries(NAMES, st.text(max_size=20), max_size=6))
def test_a_query_is_read_as_ipxe_writes_it(query: dict[str, str]) -> None:
    text = "&".join(f"{quote(name, safe='')}={quote(value, safe='+')}" for name, value in query.items())
    assert fields(text.encode()) == query


@given(st.text("ab=&+%20fF;é", max_size=40).map(lambda text: text.replace("é", "%C3%A9%")))
def test_any_text_is_read_as_the_standard_library_reads_it(text: str) -> None:
    expected: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        expected.setdefault(name, value)
    expected.pop("", None)
    assert fields(text.encode(), plus=True) == expected


@given(st.binary(max_size=200))
def test_no_bytes_make_reading_a_phone_home_fail(body: bytes) -> None:
    found = phoned(body)
    assert isinstance(found, PhonedForm) or "expected" in found


def test_a_phone_home_tells_host_keys_without_comments() -> None:
    form = {
        "pub_key_ed25519": f"{ED} root@gpu-01\n",
        "pub_key_rsa": "N/A",
        "instance_id": "gpu-01-7",
        "hostname": "g",
    }
    assert phoned(urlencode(form).encode()) == PhonedForm("gpu-01-7", "g", (ED,))


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"hostname": "no instance"},
        {"instance_id": "a\x00b"},
        {"instance_id": "a", "pub_key_ed25519": "ssh-ed25519 short"},
        {"instance_id": "a", "pub_key_ed25519": f"ssh-rsa {blob('ssh-ed25519')}"},
        {"instance_id": "a", "pub_key_ed25519": f"ssh-ed25519 {'A' * 41}"},
        {"instance_id": "a", "pub_key_dsa": f"ssh-dss {blob('ssh-dss')}"},
        {"instance_id": "a", "pub_key_ed25519": f"{ED}\n* {ED}"},
        {"instance_id": "a"} | {f"pub_key_{at}": ED for at in range(MOST_KEYS + 1)},
    ],
)
def test_what_is_no_phone_home_is_refused_with_what_was_expected(form: dict[str, str]) -> None:
    found = phoned(urlencode(form).encode())
    assert isinstance(found, str)
    assert "expected" in found


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\x7fELF\x02\x01", "instance_id=é".encode()])
def test_binary_bodies_are_refused(body: bytes) -> None:
    assert isinstance(phoned(body), str)
