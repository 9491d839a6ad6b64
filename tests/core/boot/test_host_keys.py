"""Host keys that a node told become lines of a known_hosts file, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.host_keys import is_host, known_hosts

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2vLxW1lbcCsoVOFhLFYJIZRTOaGn8ZaYl8bWKqgY5a"


def test_each_key_is_a_line_without_its_comment() -> None:
    assert known_hosts("10.0.0.9", 22, [f"{KEY} root@gpu-01\n", KEY]) == f"10.0.0.9 {KEY}\n" * 2


def test_another_port_is_named_as_ssh_names_it() -> None:
    assert known_hosts("10.0.0.9", 2222, [KEY]) == f"[10.0.0.9]:2222 {KEY}\n"


@pytest.mark.parametrize("key", ["", "ssh-dss AAAA", f"@cert-authority * {KEY}", f"{KEY}\nevil {KEY}", "ssh-rsa ;;;"])
def test_what_is_no_key_is_left_out(key: str) -> None:
    assert known_hosts("10.0.0.9", 22, [key]) == ""


@given(key=st.text(max_size=200))
def test_no_text_gives_more_than_its_own_line(key: str) -> None:
    found = known_hosts("10.0.0.9", 22, [key, f"{KEY} {key}"])
    assert all(line.startswith(("10.0.0.9 ssh-", "10.0.0.9 ecdsa-")) for line in found.split("\n")[:-1])


@pytest.mark.parametrize("name", ["10.0.0.9", "2001:db8::1", "gpu-01.example.com"])
def test_an_address_and_a_name_are_hosts(name: str) -> None:
    assert is_host(name)


@pytest.mark.parametrize("name", ["", ".", "..", "../key", "a/b", "-o", "*", "a b", "a\n", ":\n"])
def test_a_path_a_pattern_and_an_option_are_none(name: str) -> None:
    assert not is_host(name)
