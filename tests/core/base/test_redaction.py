"""Secrets are taken out of text, whatever kind they are of; what is none stays, and nothing takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.redaction import GONE, LONGEST_LINE, Scrubber

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAAsecretAAAA\n-----END OPENSSH PRIVATE KEY-----\n"

SECRETS = {
    "BMC_PASSWORD=Sup3rS3cret": "Sup3rS3cret",
    '{"Password": "with a blank", "UserName": "root"}': "with a blank",
    "ipmitool -U root --password hunter22 chassis status": "hunter22",
    "bmc says: admin:calvin-known-1 is the login": "calvin-known-1",
    "Command line: BOOT_IMAGE=/v join_token=abcdef.0123456789abcdef quiet": "abcdef.0123456789abcdef",
    "Command line: ds=nocloud;s=http://10.0.0.1/seed?nonce=9f8e7d6c5b4a": "9f8e7d6c5b4a",
    "url https://robot:pa55w0rd@git.example/x": "pa55w0rd",
    "Authorization: Token 0123456789abcdef0123": "0123456789abcdef0123",
    "X-Auth-Token: 4f1e2d3c": "4f1e2d3c",
    "sent Bearer abcdefgh12345678": "abcdefgh12345678",
    "kubeadm join 10.0.0.1:6443 --token 9a08jv.c0izixklcxtmnze7": "9a08jv.c0izixklcxtmnze7",
    "found ghp_0123456789abcdefghijABCDEFGHIJ012345 in it": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "found glpat-abcdefghij0123456789 in it": "glpat-abcdefghij0123456789",
    "found hvs.CAESIabcdefghijklmnop0123 in it": "hvs.CAESIabcdefghijklmnop0123",
    "found AKIAIOSFODNN7EXAMPLE in it": "AKIAIOSFODNN7EXAMPLE",
    "jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK end": "eyJzdWIiOiIx",
    "root:$6$saltsalt$abcdefghijklmnop:19000:0": "abcdefghijklmnop",
    "munge_key: 0f0f0f0f0f": "0f0f0f0f0f",
    "snmp_community = privat3": "privat3",
    f"before\n{KEY}after": "AAAAsecretAAAA",
}

HARMLESS = (
    "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name=python3, GPU has fallen off the bus.",
    "author: somebody; compassion 3; keyboard attached; monkey=1",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI host",
    "usb 1-1: new high-speed USB device",
)


@pytest.mark.parametrize(("text", "secret"), SECRETS.items())
def test_a_secret_is_taken_out(text: str, secret: str) -> None:
    scrubber = Scrubber(["calvin-known-1"])
    found = scrubber.text(f"line before\n{text}\nline after\n")
    assert secret not in found
    assert GONE in found
    assert scrubber.count >= 1
    assert found.startswith("line before\n")
    assert found.endswith("line after\n")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    scrubber = Scrubber(["abc"])
    assert (scrubber.text(text), scrubber.count) == (text, 0)


def test_a_key_in_one_line_or_without_an_end_is_taken_out() -> None:
    """One that never ends takes no whole log with it."""
    one = KEY.replace("\n", "\\n")
    assert Scrubber().line(f"x {one} y") == f"x {GONE}\\n y"
    endless = KEY.splitlines()[0] + "\n" + "AAAA\n" * 500
    assert Scrubber().text(endless).count("AAAA") == 300
    assert "left" in Scrubber().text(KEY.rstrip("\n") + " left")


def test_a_line_with_a_key_is_scrubbed_beside_it_and_a_second_key_too() -> None:
    one = KEY.replace("\n", "\\n")
    found = Scrubber().line(f"token=abcd1234 {one} password=abcd1234 {one}\n")
    assert found == f"token={GONE} {GONE}\\n password={GONE} {GONE}\\n\n"


def test_json_stays_json() -> None:
    """A secret may stand under its name, or in a text with lines of its own."""
    scrubber = Scrubber(["known-one"])
    tree = {
        "Password": "x y",
        "token": "",
        "keys": ["a known-one", 3, None],
        "log": 'password: a"b\nnext',
        "n": {"psk": 7},
    }
    assert scrubber.tree(tree) == {
        "Password": GONE,
        "token": "",
        "keys": [f"a {GONE}", 3, None],
        "log": f'password: {GONE}"b\nnext',
        "n": {"psk": 7},
    }
    assert scrubber.count == 3


@given(text=st.text(max_size=300))
def test_twice_is_once_and_nothing_raises(text: str) -> None:
    once = Scrubber(["hunter2"]).text(text)
    assert Scrubber(["hunter2"]).text(once) == once


@pytest.mark.parametrize("bad", ["pass", "a-", "a:", "-----BEGIN ", "token=", "eyJ", " --a ", "abcdef.", "http://"])
def test_a_hostile_line_is_cut_and_costs_little(bad: str) -> None:
    began = time.process_time()
    found = Scrubber(["x" * 9]).line(bad * 20_000 + "\n")
    assert len(found) <= LONGEST_LINE + len(bad) * 2_000
    assert time.process_time() - began < 1.0
