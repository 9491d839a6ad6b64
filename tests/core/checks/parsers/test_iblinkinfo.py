"""`iblinkinfo`, by node and with -l: what only it has."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.iblinkinfo import parse, whole
from tests.core.checks.catalogue.judging import text_of

BY_NODE = text_of("iblinkinfo/by_node.txt")
BY_LINE = text_of("iblinkinfo/by_line.txt")

PAIR = """\
CA: gpu-01 mlx5_0:
      0x0000000000000001      0    1[  ] ==( {near} Active/  LinkUp)==>       0    2[  ] "leaf-1" ( )
Switch: 0x0000000000000002 leaf-1:
           0    2[  ] ==( {near} Active/  LinkUp)==>       0    1[  ] "gpu-01 mlx5_0" (Could be 12X Could be 10 Gbps)
"""


@pytest.mark.parametrize(
    ("near", "rate"),
    [
        ("4X           2.5 Gbps", (4, "SDR")),
        ("4X           5.0 Gbps", (4, "DDR")),
        ("4X          10.0 Gbps", (4, "QDR")),
        ("4X 10.0 Gbps (FDR10)", (4, "FDR10")),
        ("4X       14.0625 Gbps", (4, "FDR")),
        ("4X      25.78125 Gbps", (4, "EDR")),
        ("4X        53.125 Gbps", (4, "HDR")),
        ("2X        106.25 Gbps", (2, "NDR")),
        ("4X         212.5 Gbps", (4, "XDR")),
        ("1X         500.5 Gbps", (1, "")),
        ("undefined (16) undefined (3)", (0, "")),
    ],
)
def test_a_link_runs_at_what_a_lane_signals(near: str, rate: tuple[int, str]) -> None:
    """As libibmad words it; "Could be" is noise."""
    (link,) = whole(parse(PAIR.format(near=near))).links
    assert link == FabricLink(
        FabricPort("gpu-01 mlx5_0", 1, "CA", "0000000000000001"),
        FabricPort("leaf-1", 2, "SW", "0000000000000002"),
        *rate,
    )


@pytest.mark.parametrize(
    "bend",
    [
        lambda text: text.replace("LinkUp)==>", "LinkUp) (HOQ:16 VL_Stall:7)==>"),
        lambda text: text.replace("Switch: 0x", "Switch 0x"),
        lambda text: text.replace("[  ]", "[ 3]"),
        lambda text: text.replace("[  ]", "[]"),
        lambda text: text.replace('[  ] "" ( )', '"Port not available"'),
    ],
    ids=["-p", "old headings", "a chassis' external ports", "spaces lost", "a port that did not answer"],
)
def test_other_versions_and_options_tell_the_same(bend: object) -> None:
    assert callable(bend)
    for text in (BY_NODE, BY_LINE):
        assert bend(text) != text or bend("Switch: 0x") != "Switch: 0x"
        assert set(whole(parse(bend(text))).links) == set(parse(text).links)


def test_ports_that_are_down_are_no_links_and_no_doubt() -> None:
    down = "\n".join(line for line in BY_LINE.split("\n") if "Down" in line)
    with pytest.raises(EvidenceError, match="iblinkinfo saw no link at all"):
        parse(down)


def test_without_a_subnet_manager_two_nodes_of_one_name_cannot_be_told_apart() -> None:
    """Without LIDs a far end is no more than its name and port; -l prints its GUID."""
    name = "MT4129 ConnectX7   Mellanox Technologies"
    text = "".join(
        f'CA: {name}:\n 0x{node} 0 1[  ] ==( 4X 2.5 Gbps Active/  LinkUp)==> 0 {node}[  ] "leaf-1" ( )\n'
        for node in (1, 2)
    )
    text += "Switch: 0x9 leaf-1:\n" + "".join(
        f' 0 {port}[  ] ==( 4X 2.5 Gbps Active/  LinkUp)==> 0 1[  ] "{name}" ( )\n' for port in (1, 2)
    )
    with pytest.raises(
        EvidenceError, match=r"two ports are both LID 0, 'MT4129 .*' port 1.*expected .* iblinkinfo -l"
    ):
        parse(text)


def test_switches_alone_are_half_of_the_fabric() -> None:
    """`--switches-only` tells of adapters from one end."""
    text = BY_NODE[BY_NODE.index("Switch: ") : BY_NODE.index("CA: gpu-02 mlx5_1")]
    with pytest.raises(
        EvidenceError,
        match=r"told 7 links from one end only, the first at 'MF0;leaf-1:MQM9700/U1' port 1.*\(--switches-only\)",
    ):
        whole(parse(text))
    (first, *_), whole_text = parse(text).lonely, BY_NODE.splitlines()
    spine = [line for line in whole_text if first.a.name not in line]
    with pytest.raises(EvidenceError) as caught:
        whole(parse("\n".join(line.replace("==(", "= (") if "CA" in line else line for line in spine)))
    assert "--switches-only" not in str(caught.value)


def test_a_port_before_any_heading_has_lost_its_beginning() -> None:
    text = BY_NODE.split("\n", 1)[1]
    with pytest.raises(EvidenceError, match="port 1 stands before any heading"):
        parse(text)


def test_a_line_that_cannot_be_read_is_reported_with_its_number() -> None:
    for text in (BY_NODE, BY_LINE):
        lines = text.split("\n")
        lines.insert(6, "           2    7[  ] ==( 4X   106.25 Gb")
        with pytest.raises(EvidenceError, match=r"iblinkinfo line 7 cannot be read: '2    7\[  \] ==\("):
            whole(parse("\n".join(lines)))


@pytest.mark.parametrize("text", [BY_NODE, BY_LINE], ids=["by-node", "by-line"])
def test_a_port_that_is_up_and_where_nobody_answers_is_told(text: str) -> None:
    """As the real tool prints it; one that is down is none, whatever stands for its far end."""
    down = '3[  ] ==(                Down/ Polling)==>             [  ] "" ( )'
    up = '3[  ] ==( 4X        53.125 Gbps Initialize/  LinkUp)==>  "Port not available"'
    found = whole(parse(text.replace(down, up, 1)))
    assert found.unanswered == (FabricPort("MF0;leaf-1:MQM9700/U1", 3, "SW", "fc6a1c0300e70000"),)
    assert found.links == parse(text).links
    assert parse(text).unanswered == ()
    assert parse(text.replace(down, down.partition("==>")[0] + '==> "Port not available"')).unanswered == ()


@pytest.mark.parametrize("text", [BY_NODE, BY_LINE], ids=["by-node", "by-line"])
def test_an_adapter_that_hears_nobody_is_known_by_its_own_guid(text: str) -> None:
    """Its node has another one, and here it has none at all."""
    told = next(line for line in text.split("\n") if "0xa088c20300ab0c10" in line and "Active" in line)
    found = parse(text.replace(told, told.partition("==>")[0] + '==>  "Port not available"'))
    assert [port for port in found.unanswered if port.kind == "CA"] == [
        FabricPort("gpu-01 mlx5_0", 1, "CA", "a088c20300ab0c10")
    ]


@pytest.mark.parametrize("text", [BY_NODE, BY_LINE], ids=["by node", "by line"])
@pytest.mark.parametrize("cut", ["           1", "           1    3", "0", "Sw", '          12   3[  ] ""'])
def test_a_line_that_was_cut_within_its_first_words_is_no_noise(text: str, cut: str) -> None:
    """The port may have been one that is up and at whose far end nobody answers."""
    with pytest.raises(EvidenceError, match="cannot be read"):
        whole(parse(f"{text.rstrip()}\n{cut}\n[root@head ~]# "))
