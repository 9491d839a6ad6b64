"""Scripts do what they are for, and nothing that comes from elsewhere changes that."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.ipxe import INITRD, LINE_LIMIT, SAYS, Kernel, boots, command_line, first, harmless, waits
from fleet_runner.core.boot.network import packed

URL = "http://10.0.0.1:8480"
EVIL = st.text() | st.lists(
    st.sampled_from(["&&", "||", "#", "${net0/mac}", "\n", "reboot", "\\", "'", '"', ";", "a", " ", "\r", ":again"])
).map(" ".join)


def commands(script: bytes) -> list[str]:
    """The first word of each line, and of what follows `||` or `&&` within one."""
    found = [part.split()[0] for line in script.decode("ascii").splitlines() for part in re.split(r"&&|\|\|", line)]
    return [word for word in found if not word.startswith((":", "#"))]


@given(EVIL)
def test_no_text_becomes_a_command_of_the_waiting_script(text: str) -> None:
    assert commands(waits(text, URL)) == commands(waits("", URL))
    assert b"${" not in waits(text, URL)


@given(EVIL)
def test_no_title_becomes_a_command_of_the_booting_script(title: str) -> None:
    script = boots(Kernel(title, f"{URL}/k", f"{URL}/i", "quiet"), URL)
    assert commands(script) == commands(boots(Kernel("", f"{URL}/k", f"{URL}/i", "quiet"), URL))
    assert b"${" not in script


@given(EVIL)
def test_an_argument_is_given_as_it_is_or_refused(argument: str) -> None:
    try:
        line = command_line("s", b"", [argument])
    except FleetError as error:
        assert "cannot stand" in str(error)  # noqa: PT017  either may come of it, and both are said
        return
    assert line.split()[0] == argument
    assert commands(boots(Kernel("", "k", "i", line), URL)) == commands(boots(Kernel("", "k", "i", ""), URL))


@pytest.mark.parametrize("url", ["http://a b", "http://${mac}", "", "http://é", "#", "&&", "||", "a\nreboot"])
def test_an_address_that_would_be_several_words_is_refused(url: str) -> None:
    with pytest.raises(FleetError, match="cannot stand in an iPXE script"):
        first(url)


@given(st.text(alphabet="abc XYZ019.,:;()/_+=@-"))
def test_harmless_text_is_shown_as_it_is(text: str) -> None:
    assert harmless(text) == " ".join(text.split())


def test_the_first_script_says_all_that_a_machine_knows_of_itself() -> None:
    lines = first(URL).decode().splitlines()
    assert lines[0] == "#!ipxe"
    (asks,) = [line for line in lines if "/ipxe?" in line]
    assert asks.startswith(
        f"chain --replace {URL}/ipxe?mac=${{netX/mac}}&uuid=${{uuid}}&serial=${{serial:uristring}}"
    )
    assert [part.partition("=")[0] for part in asks.split("?")[1].split()[0].split("&")] == list(SAYS)


@pytest.mark.parametrize("script", [first(URL), waits("No.", URL), boots(Kernel("t", "k", "i", "q"), URL)])
def test_every_script_ends_in_asking_again_from_the_start(script: bytes) -> None:
    lines = script.decode().splitlines()
    assert lines[0] == "#!ipxe"
    assert lines[-2:] == ["sleep 20", f"chain --replace {URL}/boot.ipxe || goto again"]
    assert ":again" in lines


def test_the_booting_script_loads_both_files_and_boots_with_the_line() -> None:
    script = boots(Kernel("gpu-01 boots debian-12", f"{URL}/k?boot=1", f"{URL}/i?boot=1", "quiet s=1"), URL).decode()
    assert script.splitlines()[1:5] == [
        "echo gpu-01 boots debian-12",
        f"kernel --name kernel {URL}/k?boot=1 quiet s=1 || goto again",
        f"initrd --name {INITRD} {URL}/i?boot=1 || goto again",
        "boot || goto again",
    ]


@given(st.binary(max_size=3000), st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=5))
def test_the_network_is_on_the_line_where_it_fits(document: bytes, arguments: list[str]) -> None:
    line = command_line("http://s/", document, arguments)
    assert len(line) <= LINE_LIMIT
    wanted = [*arguments, f"initrd={INITRD}", "ds=nocloud-net;s=http://s/"]
    with_network = [*wanted, f"network-config={packed(document)}"]
    assert line.split() == (with_network if len(" ".join(with_network)) <= LINE_LIMIT else wanted)


def test_a_line_that_is_too_long_even_without_the_network_is_refused() -> None:
    with pytest.raises(FleetError, match="expected at most 2000"):
        command_line("http://s/", b"", ["x" * 1990])
