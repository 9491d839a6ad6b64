"""Is every link of the fabric as designed?"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import fabric_cabling
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import cuts, judged, text_of
from tests.core.checks.catalogue.test_cabling_infiniband import FABRIC, NDR, PROFILE, SWAPPED, planned, renamed

PLAIN = planned(text_of("ibnetdiscover/plain.txt"))
BY_PORT = planned(text_of("ibnetdiscover/by_port.txt"))
FORMS = pytest.mark.parametrize("text", [PLAIN, BY_PORT], ids=["plain", "by-port"])
LINKINFO = text_of("iblinkinfo/by_line.txt")
NAME = "infiniband.h"
SWITCHES = ["leaf-1", "leaf-2", "spine-1"]


def asked(text: str, run: dict[str, Any] | None = None, **changed: Any) -> Result:
    """Judge what the fabric says; `changed` are parts of its design, or `more` readings."""
    more = changed.pop("more", {})
    profiles = changed.pop("profiles", {"t": PROFILE})
    device = {"name": NAME, "switches": changed.pop("switches", SWITCHES)}
    expected = Expected(NAME, device=device, fabric=FABRIC | changed, run=run or {}, profiles=profiles)
    return judged("fabric_cabling", {"ibnetdiscover": text, **more}, expected)


def without(*names: str) -> str:
    """Return the capture without the lines of some ends."""
    lines = BY_PORT.splitlines(keepends=True)
    return "".join(line for line in lines if not any(name in line for name in names))


def statuses(**status: str) -> dict[str, Any]:
    """Return the design's devices, some with another status."""
    rows = {name.replace("_", "-"): value for name, value in status.items()}
    return {name: device | {"status": rows.get(name, "active")} for name, device in FABRIC["devices"].items()}


@FORMS
def test_a_fabric_as_designed_passes_and_says_what_it_counted(text: str) -> None:
    result = asked(text, {"observer": ["gpu-01", "ib0"]})
    assert (result.verdict, result.message) == (Verdict.PASS, "InfiniBand links as designed: 6")
    counted = {key: result.observed[key] for key in ("designed", "matched", "planned", "placed", "unsure", "suspect")}
    assert counted == {"designed": 6, "matched": 6, "planned": 0, "placed": [], "unsure": [], "suspect": ""}
    assert result.observed["observer"] == ["gpu-01", "ib0"]


@FORMS
def test_cutting_a_healthy_capture_anywhere_never_fails_it(text: str) -> None:
    for cut in cuts(text):
        result = asked(cut)
        assert result.verdict is not Verdict.FAIL, f"cut at {len(cut)}: {result.message}"


@given(st.text(max_size=200))
def test_a_text_that_is_no_evidence_is_unknown(text: str) -> None:
    assert asked(text).verdict is Verdict.UNKNOWN


@FORMS
def test_exchanged_cables_are_one_finding_under_the_key_that_the_nodes_own_look_gives_them(text: str) -> None:
    crossed = renamed(text, *SWAPPED[0])
    result = asked(crossed)
    (fault,) = result.findings
    node = Expected("gpu-01", PROFILE, fabric=FABRIC, profiles={"t": PROFILE})
    own = judged("cabling_infiniband", {"ibnetdiscover": crossed}, node)
    assert own.findings == (fault,)
    assert (fault.code, fault.remedy, fault.nodes) == ("cabling.swap", Remedy.RECABLE, ("gpu-01", "gpu-02"))
    assert result.observed["matched"] == 4


def test_a_fault_between_switches_is_found_although_no_node_has_a_part_in_it() -> None:
    result = asked(without("leaf-1:MQM9700/U1' - 'spine-1'", "'spine-1' - 'MF0;leaf-1"))
    (fault,) = result.findings
    assert (fault.code, fault.nodes, fault.devices) == ("cabling.missing", (), ("leaf-1", "spine-1"))


def test_each_device_types_adapters_are_named_by_its_own_profile() -> None:
    devices = FABRIC["devices"] | {"gpu-02": FABRIC["devices"]["gpu-02"] | {"device_type": "u"}}
    other = {"hca_interfaces": {"mlx5_0": "ib1", "mlx5_1": "ib0"}}
    (fault,) = asked(BY_PORT, devices=devices, profiles={"t": PROFILE, "u": other}).findings
    assert (fault.code, fault.nodes) == ("cabling.wrong_rail", ("gpu-02",))


def test_an_adapter_that_does_not_say_whose_it_is_leaves_its_link_unsure() -> None:
    result = asked(BY_PORT.replace("gpu-01 mlx5_0", "localhost mlx5_0"))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.startswith("expected gpu-01 ib0 to leaf-1 1, observed ")
    assert result.observed["unsure"] == [["gpu-01", "leaf-1"]]
    assert asked(BY_PORT.replace("gpu-01 mlx5", "localhost mlx5")).observed["unsure"] == ["gpu-01"]


def test_a_fault_beside_a_doubt_is_told_and_the_doubt_is_kept() -> None:
    result = asked(without("gpu-02 mlx5_1").replace("gpu-01 mlx5_0", "localhost mlx5_0"))
    assert [fault.code for fault in result.findings] == ["cabling.missing"]
    assert result.observed["unsure"] == [["gpu-01", "leaf-1"]]


@pytest.mark.parametrize("why", ["planned", "disturbed"])
def test_a_device_that_is_not_in_service_is_not_missed(why: str) -> None:
    """Its links are unsure; a cable of its own that is seen is judged all the same."""
    run = {"opened_at": 100.0, "disturbed": {"gpu-02": 100.0 if why == "disturbed" else 99.0}}
    changed = {"devices": statuses(gpu_02="planned")} if why == "planned" else {}
    result = asked(without("gpu-02"), run, **changed)
    assert result.verdict is Verdict.PASS
    assert result.message == (
        "InfiniBand links as designed: 4; 2 of devices that are not in service were not checked"
    )
    assert result.observed["unsure"] == ["gpu-02"]
    (fault,) = asked(renamed(BY_PORT, *SWAPPED[0]), run, **changed).findings
    assert fault.code == "cabling.swap"


SPINE = {
    "links": [*FABRIC["links"], *([f"leaf-{leaf}", "34", "spine-2", str(leaf), NDR, []] for leaf in (1, 2))],
    "devices": FABRIC["devices"] | {"spine-2": FABRIC["devices"]["spine-1"] | {"status": "planned"}},
    "switches": [*SWITCHES, "spine-2"],
}
"""The fabric with a spine that is still to come."""


def test_a_spine_that_is_still_to_come_is_unsure_and_no_leaf_for_it() -> None:
    result = asked(renamed(BY_PORT, *SWAPPED[0]), **SPINE)
    assert [fault.code for fault in result.findings] == ["cabling.swap"]
    assert result.observed["unsure"] == ["spine-2"]


def test_a_link_between_switches_that_are_both_seen_is_unsure_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many, their devices are named instead."""
    lines = [
        line.replace("spine-1", "switch-a1b2c3").replace("fc6a1c0300e90000", "fc6a1c0300e99999")
        if "leaf-1" in line
        else line
        for line in BY_PORT.splitlines(keepends=True)
    ]
    assert asked("".join(lines)).observed["unsure"] == [["leaf-1", "spine-1"]]
    monkeypatch.setattr(fabric_cabling, "MOST_NAMED", 0)
    assert asked("".join(lines)).observed["unsure"] == ["leaf-1", "spine-1"]


def test_a_spine_of_which_nothing_is_known_is_unsure_as_a_whole() -> None:
    assert asked(BY_PORT.replace("'spine-1'", "'switch-a1b2c3'")).observed["unsure"] == ["spine-1"]


def planned_cables(*rows: list[str]) -> dict[str, Any]:
    """The design with cables that are still to be put in place."""
    return {"planned": list(rows)}


def test_a_planned_cable_is_not_expected_while_both_its_ports_are_empty() -> None:
    later = planned_cables(["gpu-02", "ib0", "leaf-1", "2"], ["gpu-02", "ib1", "leaf-2", "2"])
    result = asked(without("gpu-02"), **later)
    assert (result.verdict, result.message) == (
        Verdict.PASS,
        "InfiniBand links as designed: 4; 2 planned cables are not in place yet",
    )
    counted = {key: result.observed[key] for key in ("designed", "matched", "planned", "placed", "unsure")}
    assert counted == {"designed": 4, "matched": 4, "planned": 2, "placed": [], "unsure": []}


def test_a_planned_cable_that_is_seen_as_designed_is_told() -> None:
    later = planned_cables(["leaf-1", "2", "gpu-02", "ib0"], ["gpu-02", "ib1", "leaf-2", "2"])
    result = asked(without("gpu-02 mlx5_1"), **later)
    assert result.verdict is Verdict.PASS
    assert result.observed["placed"] == [["gpu-02", "ib0", "leaf-1", "2"]]


def test_a_planned_cables_port_that_holds_another_cable_is_a_fault_as_ever() -> None:
    later = planned_cables(["gpu-01", "ib0", "leaf-1", "1"], ["gpu-02", "ib0", "leaf-1", "2"])
    result = asked(renamed(BY_PORT, *SWAPPED[0]), **later)
    assert [fault.code for fault in result.findings] == ["cabling.swap"]
    assert result.observed["placed"] == []


def test_a_later_phase_of_planned_cables_makes_nothing_suspect() -> None:
    links = design(40)["links"]
    later = planned_cables(*(row[:4] for row in links[:30]))
    result = asked(crowd(30), **design(40), **later)
    assert (result.verdict, result.observed["planned"], result.observed["designed"]) == (Verdict.PASS, 30, 10)


def test_a_disturbance_that_is_over_excuses_nothing() -> None:
    result = asked(without("gpu-02"), {"opened_at": 100.0, "disturbed": {"gpu-02": 99.0}})
    assert [fault.code for fault in result.findings] == ["cabling.dark"]


OTHER = {
    "links": [*FABRIC["links"], ["gpu-09", "ib0", "leaf-9", "1", NDR, []], ["gpu-08", "ib0", "leaf-9", "2", NDR, []]],
    "devices": FABRIC["devices"]
    | {
        "gpu-08": {"site": "h", "role": "gpu-server", "device_type": "t", "guids": {}},
        "gpu-09": {"site": "h", "role": "gpu-server", "device_type": "t", "guids": {}},
        "leaf-9": {"site": "h", "role": "leaf", "device_type": "q", "guids": {}},
    },
}
"""The same site with a second fabric."""


def test_another_fabric_of_the_site_is_not_missed() -> None:
    assert asked(BY_PORT, **OTHER).verdict is Verdict.PASS


def test_of_another_fabric_that_a_wrong_cable_made_visible_only_the_cable_is_told() -> None:
    """A cable of gpu-01 is in the other fabric's leaf; what that fabric misses itself is not this one's."""
    shown = [*line("gpu-01 mlx5_0", 3), *line("gpu-08 mlx5_0", 2)]
    result = asked(without("gpu-01 mlx5_0") + "".join(shown), **OTHER)
    (fault,) = result.findings
    assert fault.devices == ("gpu-01", "leaf-1", "leaf-9")
    assert (result.observed["designed"], result.observed["matched"]) == (6, 5)


def test_more_faults_than_the_share_allows_are_one_finding_that_names_no_cable() -> None:
    result = asked(crowd(20), {"suspect_share": 0.0}, **design(40))
    (fault,) = result.findings
    assert (fault.code, fault.fault) == ("cabling.suspect", f"cabling/suspect/{NAME}")
    assert (fault.nodes, fault.remedy) == ((NAME,), Remedy.RECABLE)
    assert fault.message.startswith(f"{NAME}: 20 faults at once")
    assert result.observed["suspect"]
    assert asked(crowd(20), {"suspect_share": 0.9}, **design(40)).findings[0].code == "cabling.missing"


def test_a_result_names_all_faults_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric_cabling, "MOST_FAULTS", 9)
    (fault,) = asked(crowd(10), **design(40)).findings
    assert fault.message == f"{NAME}: 10 faults at once."


def design(servers: int) -> dict[str, Any]:
    """Return a design of servers with one link each to one leaf."""
    links = [[f"gpu-{number:02d}", "ib0", "leaf-1", str(number), NDR, []] for number in range(1, servers + 1)]
    box = {"site": "h", "role": "gpu-server", "device_type": "t", "guids": {}}
    devices = {row[0]: box for row in links} | {"leaf-1": FABRIC["devices"]["leaf-1"]}
    return {"links": links, "devices": devices, "switches": ["leaf-1"]}


def crowd(missing: int) -> str:
    """Return what the fabric of 40 servers says while the first few of its links are gone."""
    rows = [row for number in range(missing + 1, 41) for row in line(f"gpu-{number:02d} mlx5_0", number, "leaf-1")]
    return "".join(sorted(rows))


def line(adapter: str, port: int, leaf: str = "leaf-9") -> tuple[str, str]:
    """Return both ends of a link from an adapter to a leaf."""
    near, far = f"CA {900 + port:5d}  1 0x{900 + port:016x}", f"SW   899 {port:2d} 0x00000000000000ff"
    return (
        f"{near} 4x NDR - {far} ( '{adapter}' - '{leaf}' )\n",
        f"{far} 4x NDR - {near} ( '{leaf}' - '{adapter}' )\n",
    )


def test_a_neighbour_that_hangs_is_unknown_where_that_can_be_told() -> None:
    """Its port at the leaf is up, so the cable is there; nothing else tells it from a missing one."""
    lines = [line for line in LINKINFO.split("\n") if "gpu-01 mlx5_0" not in line]
    near = next(line for line in LINKINFO.split("\n") if line.endswith('"gpu-01 mlx5_0" ( )'))
    hanging = "\n".join([*lines, near.partition("==>")[0] + '==>  "Port not available"', ""])
    result = asked(without("gpu-01 mlx5_0"), more={"iblinkinfo": hanging})
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert result.message == "no data about gpu-01 ib0 to leaf-1 1"


@pytest.mark.parametrize("text", ["", "no such device", "iblinkinfo"])
def test_a_second_look_that_says_nothing_changes_nothing(text: str) -> None:
    codes = [finding.code for finding in asked(without("gpu-01 mlx5_0"), more={"iblinkinfo": text}).findings]
    assert codes == ["cabling.missing"]
