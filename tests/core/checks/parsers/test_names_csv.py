"""Declared names: any text is read or refused in one sentence with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers.names_csv import Declared, parse, stands_for


@given(st.text(max_size=200) | st.from_regex(r"device,adapter,interface\n[a-z*,:0x\n\"]{0,60}", fullmatch=True))
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    found: Declared | SourceError
    try:
        found = parse(text, "names.csv")
    except SourceError as error:
        found = error
    assert isinstance(found, Declared) or str(found).startswith("names.csv")


def test_adapters_guids_and_other_names_are_declared_in_any_columns() -> None:
    text = (
        "\ufeffAdapter,Device,Interface,GUID,Name\r\n# rails of every server\r\n"
        "mlx5_0,*,ib0,,\r\n\r\nmlx5_7,gpu-02,ib0,0xA088:C203:00AB:0C10,\r\n,leaf-1,,7,\r\n,gpu-01,,,S1234\r\n"
    )
    assert parse(text, "names.csv") == Declared(
        {"*": {"mlx5_0": "ib0"}, "gpu-02": {"mlx5_7": "ib0"}},
        {"a088c20300ab0c10": Port("gpu-02", "ib0"), "0000000000000007": Port("leaf-1", "")},
        {"S1234": "gpu-01"},
    )


def test_the_role_of_a_device_is_declared() -> None:
    assert parse("device,role\nmgmt-1,spine\n", "names.csv") == Declared(roles={"mgmt-1": "spine"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names.csv: it is empty"),
        ("gpu-01,ib0\n", "names.csv:1: found 'gpu-01,ib0', expected column names"),
        ("device,speed\n", "names.csv:1: found 'device,speed', expected column names"),
        ("device,adapter\ngpu-01,\n", "names.csv:2: found 'gpu-01,,,,,', expected a device and its adapter"),
        ("device,adapter\n,mlx5_0\n", "names.csv:2: found ',,mlx5_0,,,', expected a device"),
        ("device,adapter\ngpu-01,mlx5_0\n", "names.csv:2: found adapter 'mlx5_0', expected the interface"),
        ("device,guid\n*,1\n", "names.csv:2: a GUID, name or role is one device's"),
        ("device,name\n*,x\n", "names.csv:2: a GUID, name or role is one device's"),
        ("device,role\n*,leaf\n", "names.csv:2: a GUID, name or role is one device's"),
        ("device,guid\ngpu-01,xyz\n", "names.csv:2: found guid 'xyz', expected up to 16 hexadecimal digits"),
        ('device,name\n"gpu-01', "names.csv:2: unexpected end of data; expected comma-separated values"),
    ],
)
def test_a_line_that_declares_nothing_is_refused(text: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse(text, "names.csv")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "device", "stands"),
    [
        ("*", "leaf-1", True),
        ("leaf-*", "leaf-1", True),
        ("leaf-*", "leaf-", True),
        ("leaf-*", "spine-1", False),
        ("r*-leaf-*", "r7-leaf-01", True),
        ("r*-leaf-*", "r7-spine-01", False),
        ("*-leaf", "r7-leaf", True),
        ("aa*aa", "aaa", False),
        ("*ab*ab", "abxab", True),
        ("leaf-1", "leaf-1", True),
        ("leaf-1", "leaf-11", False),
    ],
)
def test_a_star_stands_for_any_letters(pattern: str, device: str, *, stands: bool) -> None:
    assert stands_for(pattern, device) is stands


@given(st.text("ab*", max_size=60), st.text("ab", max_size=60))
def test_no_pattern_takes_long_or_stands_for_what_it_does_not_spell(pattern: str, device: str) -> None:
    if stands_for(pattern, device):
        assert len(pattern.replace("*", "")) <= len(device)
        assert stands_for(f"*{pattern}", f"b{device}")


def test_the_name_of_a_device_says_more_than_what_stands_for_several() -> None:
    told = parse(
        "device,interface,adapter\n*,ib0,mlx5_0\ngpu-*,ib1,mlx5_0\ngpu-*,ib7,mlx5_7\ngpu-07,ib2,mlx5_0\n", "n"
    )
    assert told.adapters_of("leaf-1") == {"mlx5_0": "ib0"}
    assert told.adapters_of("gpu-01") == {"mlx5_0": "ib1", "mlx5_7": "ib7"}
    assert told.adapters_of("gpu-07") == {"mlx5_0": "ib2", "mlx5_7": "ib7"}
    with pytest.raises(SourceError, match=r"expected its name in place of 'gpu-\*'"):
        parse("device,name\ngpu-*,S1\n", "n")
