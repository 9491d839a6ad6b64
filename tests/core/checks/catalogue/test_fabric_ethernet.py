"""Is every link of an Ethernet fabric as designed?"""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import fabric_cabling, fabric_ethernet
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.several import written
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import cuts, judged
from tests.examples import examples

KIND = "400gbase-x-qsfp112"
End = tuple[str, str]

CABLES: list[tuple[End, End]] = [
    *(((f"gpu-0{node}", f"eth{rail}"), (f"leaf-{rail + 1}", f"swp{node}")) for node in (1, 2, 3) for rail in (0, 1)),
    *(((f"leaf-{leaf}", "swp33"), ("spine-1", f"swp{leaf}")) for leaf in (1, 2)),
]
MANAGED: tuple[End, End] = (("gpu-01", "bmc"), ("leaf-1", "swp48"))
SWITCHES = ("leaf-1", "leaf-2", "spine-1")
ROLES = {"gpu": "gpu-server", "leaf": "leaf", "spine": "spine", "pdu": "pdu"}


def fabric(*more: tuple[End, End], **changed: Any) -> dict[str, Any]:
    """The design, with more cables and other parts."""
    cables = [*CABLES, *more]
    names = sorted({end[0] for pair in cables for end in pair})
    devices = {name: {"site": "h", "role": ROLES[name.partition("-")[0]]} for name in names}
    rows = [[*one, *other, KIND, []] for one, other in cables]
    other_kind = ["gpu-01", "ib0", "ib-leaf", "1", "infiniband-ndr", []]
    return {"links": [*rows, other_kind], "devices": devices, "planned": [], "managed": []} | changed


def heard(cables: list[tuple[End, End]], mute: tuple[str, ...] = ()) -> dict[str, list[Neighbour]]:
    """What each switch hears over these cables, of devices that are not mute."""
    found: dict[str, list[Neighbour]] = {name: [] for name in SWITCHES}
    for one, other in cables:
        for near, far in ((one, other), (other, one)):
            if near[0] in found and far[0] not in mute:
                found[near[0]].append(Neighbour(near[1], far[0], far[1], ""))
    return found


def asked(told: dict[str, list[Neighbour]], unread: dict[str, str] | None = None, **design: Any) -> Result:
    """Judge what switches hear; `before` is the last sweep's result."""
    text = json.dumps(written(told, unread or {}))
    return raw(text, **design)


def raw(text: str, **design: Any) -> Result:
    """Judge a text."""
    device = {"name": "ethernet.h", "switches": list(SWITCHES)}
    before = design.pop("before", None)
    run: dict[str, Any] = {"now": 2000.0}
    if before is not None:
        run["before"] = {"fabric_ethernet": {"at": 1000.0, "observed": json.loads(json.dumps(before.observed))}}
    shape = design.pop("shape", None) or fabric(**design)
    expected = Expected("ethernet.h", device=device, fabric=shape, run=run)
    return judged("fabric_ethernet", {"switch_lldp": text}, expected)


def swapped() -> list[tuple[End, End]]:
    """The cables, two of them in each other's port."""
    one, other, *rest = CABLES
    return [(one[0], other[1]), (other[0], one[1]), *rest]


def test_a_fabric_as_designed_passes_and_says_what_it_counted() -> None:
    result = asked(heard(CABLES))
    assert (result.verdict, result.message) == (Verdict.PASS, "Ethernet links as designed: 8")
    assert result.observed == {
        "designed": 8, "matched": 8, "planned": 0, "placed": [], "mute": 0, "learned": 0, "by_nodes": 0, "unsure": [],
        "suspect": "", "unbound": 0, "read": 3, "unread": [],
        "between": {"leaf-1": {"spine-1": ["swp33"]}, "leaf-2": {"spine-1": ["swp33"]}},
    }  # fmt: skip


def test_an_uplink_that_the_last_sweep_heard_and_this_one_does_not_is_a_fault_until_it_is_back() -> None:
    """Of the two switches each hears others; what was remembered outlasts the sweeps between."""
    gone = [pair for pair in CABLES if pair[1] != ("spine-1", "swp2")]
    unknown = asked(heard(gone))
    assert (unknown.verdict, unknown.findings, unknown.observed["unsure"]) == (
        Verdict.UNKNOWN,
        (),
        [["leaf-2", "spine-1"]],
    )
    first = asked(heard(CABLES))
    again = asked(heard(gone), before=first)
    once_more = asked(heard(gone), before=again)
    assert again.findings == once_more.findings
    (finding,) = again.findings
    assert (finding.code, finding.remedy, finding.fault) == (
        "cabling.missing",
        Remedy.RECABLE,
        "cabling/lost/leaf-2/spine-1",
    )
    assert (finding.nodes, finding.devices, again.observed["unsure"]) == ((), ("leaf-2", "spine-1"), [])
    assert asked(heard(CABLES), before=once_more).verdict is Verdict.PASS


def test_a_swap_is_one_fault_under_the_key_that_the_nodes_own_look_gives_it() -> None:
    (fault,) = asked(heard(swapped())).findings
    assert (fault.code, fault.remedy, fault.nodes) == ("cabling.wrong_rail", Remedy.RECABLE, ("gpu-01",))
    own = [Neighbour("eth0", "leaf-2", "swp1", ""), Neighbour("eth1", "leaf-1", "swp1", "")]
    interfaces = [
        {"name": each.interface, "chassis": [{"name": each.system}], "port": [{"id": each.port}]} for each in own
    ]
    text = json.dumps({"lldp": [{"interface": interfaces}]})
    assert judged("cabling_ethernet", {"lldp": text}, Expected("gpu-01", fabric=fabric())).findings == (fault,)


def test_one_end_is_enough_where_the_other_switch_was_not_read() -> None:
    told = heard(CABLES)
    del told["spine-1"]
    result = asked(told, {"spine-1": "ssh ended with 255: no route to host"})
    assert (result.verdict, result.observed["matched"]) == (Verdict.UNKNOWN, 8)
    assert result.message == "spine-1 was not read: ssh ended with 255: no route to host"
    assert result.observed["unread"] == ["spine-1"]


def test_a_switch_that_was_not_read_keeps_no_fault_from_being_told() -> None:
    told = heard(swapped())
    del told["spine-1"]
    assert asked(told, {"spine-1": "it did not answer within 30 seconds"}).verdict is Verdict.FAIL


def test_a_switch_that_no_neighbour_hears_is_a_fault_and_nothing_of_it_is_unsure() -> None:
    """A second spine makes two witnesses of a leaf."""
    more = [((leaf, "swp34"), ("spine-2", port)) for leaf, port in (("leaf-1", "swp1"), ("leaf-2", "swp2"))]
    told = heard([*CABLES, *more], mute=("leaf-2",)) | {"spine-2": [Neighbour("swp1", "leaf-1", "swp34", "")]}
    del told["leaf-2"]
    device = {"name": "ethernet.h", "switches": [*SWITCHES, "spine-2"]}
    text = json.dumps(written(told, {"leaf-2": "it did not answer within 30 seconds"}))
    expected = Expected("ethernet.h", device=device, fabric=fabric(*more))
    result = judged("fabric_ethernet", {"switch_lldp": text}, expected)
    (finding,) = result.findings
    assert (finding.code, finding.fault, finding.nodes) == ("cabling.dark", "cabling/dark/leaf-2", ())
    assert (result.verdict, result.observed["unsure"], result.observed["mute"]) == (Verdict.FAIL, [], 0)
    assert result.observed["unread"] == ["leaf-2"]


def test_a_node_that_is_not_heard_is_unknown_and_its_bmc_may_be_silent() -> None:
    shape = fabric(MANAGED, (("leaf-1", "swp47"), ("pdu-1", "eth0")), managed=[["gpu-01", "bmc"]])
    result = asked(heard(CABLES), shape=shape)
    assert result.verdict is Verdict.PASS
    quiet = "; nothing is heard of 2 links, none of whose ends need speak LLDP"
    assert result.message == f"Ethernet links as designed: 8{quiet}"
    result = asked(heard(CABLES, mute=("gpu-02",)), shape=shape)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.startswith("neither end of gpu-02 eth0 to leaf-1 swp2 is heard; ")
    assert result.observed["mute"] == 2
    assert "gpu-02" in result.observed["unsure"]


def test_a_planned_cable_is_told_once_it_is_there_and_not_missed_before() -> None:
    later = [["gpu-03", "eth0", "leaf-1", "swp3"]]
    gone = [pair for pair in CABLES if pair[0] != ("gpu-03", "eth0")]
    result = asked(heard(gone), planned=later)
    assert (result.verdict, result.observed["planned"], result.observed["placed"]) == (Verdict.PASS, 1, [])
    assert result.message == "Ethernet links as designed: 7; 1 planned cables are not in place yet"
    assert asked(heard(CABLES), planned=later).observed["placed"] == later


def test_two_that_say_different_things_are_not_believed() -> None:
    told = heard(CABLES)
    told["leaf-1"][0] = told["leaf-1"][0]._replace(system="gpu-02", port="eth0")
    result = asked(told)
    assert result.verdict is Verdict.UNKNOWN
    assert "expected gpu-01 eth0 to leaf-1 swp1, observed " in result.message


def test_a_port_of_a_name_of_another_kind_is_unknown() -> None:
    told = heard(CABLES, mute=("gpu-01",))
    told["leaf-1"].append(Neighbour("Ethernet1/1", "gpu-01", "eth0", ""))
    result = asked(told)
    assert result.verdict is Verdict.UNKNOWN
    assert "by a name that the design does not use" in result.message


def test_where_no_switch_was_read_nothing_is_known() -> None:
    result = asked({}, {"leaf-1": "no route to host"})
    assert (result.verdict, result.message) == (
        Verdict.UNKNOWN,
        "no switch could be read: leaf-1: no route to host",
    )
    assert asked({}).message == "no switch could be read: none can be asked"


def test_another_fabrics_answer_is_one_finding() -> None:
    turned = [(one, (other[0], f"swp{int(other[1][3:]) % 3 + 1}")) for one, other in CABLES[:6]]
    many = [((f"gpu-{n:02d}", "eth0"), ("leaf-1", f"swp{n}")) for n in range(4, 44)]
    shifted = [(one, (other[0], f"swp{4 + (int(other[1][3:]) - 3) % 40}")) for one, other in many]
    result = asked(heard([*turned, *CABLES[6:], *shifted]), shape=fabric(*many))
    (finding,) = result.findings
    assert (finding.code, finding.component) == ("cabling.suspect", "ethernet.h")


def test_cutting_an_answer_anywhere_never_fails_the_fabric() -> None:
    for cut in cuts(json.dumps(written(heard(CABLES), {}))):
        assert raw(cut).verdict is Verdict.UNKNOWN


@given(st.sets(st.sampled_from(SWITCHES)), st.sets(st.sampled_from(["gpu-01", "gpu-02", "gpu-03", *SWITCHES])))
@settings(max_examples=examples(300))
def test_of_cables_as_designed_none_is_ever_told_to_be_moved(down: set[str], silent: set[str]) -> None:
    told = {name: each for name, each in heard(CABLES, tuple(silent)).items() if name not in down}
    result = asked(told, dict.fromkeys(down, "it did not answer"))
    assert result.findings == ()
    assert (result.verdict is Verdict.PASS) <= (not down and silent <= set(SWITCHES))


def test_it_has_the_codes_of_every_fabric() -> None:
    assert fabric_ethernet.CHECK.codes == fabric_cabling.CHECK.codes
