"""Nodes of the store: what is proposed of them holds for themselves, names who is odd, and invents nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.bmc import proposed, proposed_file, stored
from fleet_runner.core.bmc.stored import Piece
from fleet_runner.core.checks.baseline import LearnedLimit
from fleet_runner.core.checks.check import Measure
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware import bios, catalogue
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence
from fleet_runner.core.lifecycle.states import Stage
from tests.core.bmc.store_nodes import AT, ORIGIN, node, pieces, profile, texts, told
from tests.core.checks.catalogue.amd_evidence import rows
from tests.core.checks.catalogue.amd_evidence import texts as amd

READS = sorted(texts())


@given(st.lists(st.tuples(st.sampled_from(READS), st.integers(0, 20_000)), max_size=5), st.booleans())
def test_a_node_passes_what_is_proposed_of_it_whatever_was_read_and_wherever_that_was_cut(
    cuts: list[tuple[str, int]],
    twice: bool,
) -> None:
    found = texts()
    for read, end in cuts:
        found[read] = found[read][:end]
    one = stored.node("n1", pieces(found))
    wanted = profile(one, replace(one, name="n2")) if twice else profile(one)
    catalogue.read(wanted) if catalogue.SECTION in wanted else None
    bios.read(wanted)
    before = {each.check for each in stored.failing("n1", {}, pieces(found))}
    assert [each.message for each in stored.failing("n1", wanted, pieces(found)) if each.check not in before] == []


@given(st.lists(st.sampled_from(READS), max_size=len(READS)))
def test_what_was_never_read_is_not_proposed(gone: list[str]) -> None:
    """Each value comes from a read that is there, and is the same as with all of them."""
    whole, part = told(node("n1")), told(node("n1", **dict.fromkeys(gone)))
    assert part.items() <= whole.items()
    assert gone != READS or not part


def test_all_that_is_read_of_a_healthy_node_is_proposed() -> None:
    wanted = profile(node("n1"), node("n2"))
    assert wanted["parts"]["gpu"] == {"count": 2, "model": "NVIDIA H100 80GB HBM3"}
    assert wanted["parts"]["dimm"] == {
        "count": 2, "gib": 64, "megatransfers": 4800, "models": ["M321R8GA0BB0-CQKZJ"],
    }  # fmt: skip
    assert wanted["parts"]["psu"] == {"count": 2, "model": "PWS-3K06G-2R"}
    assert wanted["parts"]["hca"] == {"count": 2}
    assert wanted["nic_of_gpu"] == {str(gpu): f"mlx5_{gpu}" for gpu in range(8)}
    assert wanted["sensors"]["inlet_celsius_max"] == 42
    assert {row["component"]: row["accepted"] for row in wanted["firmware"]["components"]}["BIOS"] == ["2.1"]
    assert wanted["bios"]["attributes"]["QuietBoot_0030"] is True
    assert bios.read(wanted)
    assert catalogue.read(wanted).components


def test_a_node_that_lacks_a_module_is_named_and_nothing_is_taken_by_majority() -> None:
    odd = node("n3", dmidecode=texts()["dmidecode"].replace("Size: 64 GB", "Size: No Module Installed", 1))
    nodes = [node("n1"), node("n2"), odd]
    text = proposed_file.text(nodes, ORIGIN)
    assert "# ODD: n3: parts.dimm.count is 1, 2 on 2 others; look at it, or propose without it" in text
    assert "  # parts.dimm.count differs: 2 on n1, n2; 1 on n3" in text
    assert "count" not in yaml.safe_load(text)["fleet_profile"]["parts"]["dimm"]
    assert proposed.odd([nodes[0], odd]) == {}  # of two nobody is odd


def test_of_a_node_with_many_differences_the_first_are_named() -> None:
    odd = node("n3", lscpu=None, dmidecode=None, nvme_controllers=None)
    [line] = [
        each for each in proposed_file.text([node("n1"), node("n2"), odd], ORIGIN).splitlines() if "ODD" in each
    ]
    assert line.count("not reported") == 3
    assert "more; look at it" in line


def test_settings_of_one_node_are_not_proposed_and_those_of_a_node_itself_never() -> None:
    assert "bios" not in profile(node("n1"))
    assert "settings were read, and none is proposed from one node" in proposed_file.text([node("n1")], ORIGIN)
    body = (
        '{"/redfish/v1/Systems/1/Bios": {"Attributes": {"AssetTag": "7", "Password1": "x", "Odd": %s, "Same": "a"}}}'
    )
    nodes = [node(f"n{n}", redfish_bios=body % odd) for n, odd in enumerate(("true", "1"))]
    assert profile(*nodes)["bios"] == {"attributes": {"Same": "a"}}
    assert "  # bios.attributes.Odd differs: True on n0; 1 on n1" in proposed_file.text(nodes, ORIGIN)


@pytest.mark.parametrize(
    "body",
    [
        '{"/a/Bios": {"Attributes": {"A": 1}}, "/b/Bios": {"Attributes": {"A": 1}}}',
        '{"/a/Bios": {"Attributes": {"A": 1.5, "": 1, "B": null, "C": "", "D\\u0007": 1}}}',
        '{"/a/Bios": {}}',
        '{"/a/Bios": {"Attributes": 7}}',
    ],
)
def test_settings_of_several_computers_or_of_no_kind_are_left_out(body: str) -> None:
    assert node("n1", redfish_bios=body).settings == {}


def test_the_settings_of_a_gpu_baseboard_are_not_the_computers() -> None:
    bodies = '{"/HGX_Baseboard_0/Bios": {"Attributes": {"A": 1}}, "/System/Bios": {"Attributes": {"B": 1}}}'
    assert node("n1", redfish_bios=bodies).settings == {"B": 1}


def test_a_bmc_that_contradicts_itself_and_a_node_that_fails_now_are_noted() -> None:
    found = {**texts(), "redfish_firmware": "[]", "redfish_sensors": "[]", "lscpu": "x"}
    latest = [
        Result("xid", Verdict.FAIL, "Xid 79"),
        Result("sel", Verdict.PASS, "well"),
    ]
    notes = " ".join(stored.node("n1", pieces(found), latest).notes)
    assert "n1 may not be good: xid last answered FAIL: Xid 79" in notes
    assert "sel" not in notes
    assert "nothing is drawn from lscpu" in notes
    assert notes.count("not all that was read could be used") == 2


def test_a_read_that_was_never_made_names_the_section_that_makes_it() -> None:
    text = proposed_file.text([node("n1", lscpu=None)], ORIGIN)
    assert "# never read, so that nothing is proposed of it: parts.cpu; write these sections empty" in text
    assert "# Not proposed, as it is a site's choice: hca_interfaces" in text
    assert stored.node("n1", {}).day == "no day"


def test_a_node_is_not_asked_for_what_the_other_makers_gpus_have() -> None:
    found = {read: text for read, text in texts().items() if not read.startswith("nv")}
    of_amd = {**found, **amd(rows())}
    assert [each for each in stored.node("n1", pieces(of_amd)).notes if "nvlink" in each] == []
    del of_amd["amd_smi_xgmi"]
    assert "is proposed of it: parts.nvme, xgmi;" in " ".join(stored.node("n1", pieces(of_amd)).notes)
    assert "nvlink, nic_of_gpu;" in " ".join(stored.node("n1", pieces(found)).notes)


def test_the_model_is_the_bmcs_and_a_gpu_baseboards_is_not() -> None:
    systems = '{"/redfish/v1/Systems/HGX_Baseboard_0": {"Model": "P"}, "/redfish/v1/Systems/1": {"Model": "SYS-1"}}'
    given = node("n1", redfish_machine=systems)
    assert given.model == "SYS-1"
    assert profile(given)["firmware"]["boards"] == ["SYS-1"]
    assert node("n1", redfish_machine="x", redfish_systems=systems).model == "SYS-1"
    untold = node("n2", redfish_machine="{}", redfish_systems=None, redfish_health=None)
    assert untold.model == ""
    assert profile(given, untold)["firmware"]["boards"] == ["SYS-1"]  # it is of the named device type, like the other
    assert "Device type whose model no BMC tells, slug hgx" in proposed_file.text([untold], ORIGIN)


def test_supplies_that_have_resources_of_their_own_count_where_the_chassis_lists_none() -> None:
    given = told(node("n1", redfish_power='{"/redfish/v1/Chassis/1/Power": {}}'))
    assert given["parts.psu.count"] == 2
    assert "parts.psu.count" not in told(node("n1", redfish_power=None, redfish_supplies=None))
    assert "sensors.fans" not in told(node("n1", redfish_sensors=None))


@given(st.text(max_size=6) | st.sampled_from(["\x85", "\u2028", " ", "x" * 300, "\U0001f600", "~", "null", "1e3"]))
def test_whatever_a_tool_calls_a_part_is_read_from_the_file_as_it_was_told(name: str) -> None:
    rows = json.loads(texts()["lscpu"])
    rows["lscpu"] = [{"field": "Model name:", "data": name}, *(
        row for row in rows["lscpu"] if row["field"] != "Model name:"
    )]  # fmt: skip
    given_node = node("n1", lscpu=json.dumps(rows))
    model = told(given_node).get("parts.cpu.model")
    assert profile(given_node)["parts"]["cpu"].get("model") == model
    assert model is None or (model.isprintable() and len(model) <= 200)


def test_what_nobody_can_type_is_not_proposed_and_is_noted() -> None:
    given_node = node("n1", dmidecode=texts()["dmidecode"].replace("M321R8GA", "M321\u200bR8GA"))
    assert "parts.dimm.models" not in told(given_node)
    assert "parts.dimm.models is not proposed: n1 tells it with signs that nobody can type" in given_node.notes


def test_a_profile_that_the_node_is_not_like_is_failed() -> None:
    wanted = profile(node("n1"), node("n2"))
    wanted["parts"]["dimm"]["count"] = 3
    assert [each.check for each in stored.failing("n1", wanted, pieces())] == ["parts_dimm"]
    assert stored.failing("n1", wanted, {}) == []


def result(check: str, at: float, *hashes: str) -> Stored:
    """Return a stored result on these pieces of evidence."""
    return Stored(1, 1, "n1", Stage.VERIFY, at, Result(check, Verdict.PASS, "x", evidence=hashes))


def test_the_newest_text_of_a_read_counts_under_the_name_that_its_check_gives_it() -> None:
    held = {each: Evidence("", 1.0, read, each, each) for each, read in (("a", "lscpu"), ("b", "lscpu"), ("c", "df"))}
    found = stored.pieces([result("parts_cpu", 5.0, "b"), result("parts_cpu", 4.0, "a")], held, {})
    assert found == {"lscpu": Piece("b", 5.0)}
    # The same text was first stored for another read.
    assert stored.pieces([result("parts_cpu", 1.0, "c")], held, {}) == {"lscpu": Piece("c", 1.0)}
    assert stored.pieces([result("gone", 1.0, "c", "lost")], held, {}) == {"df": Piece("c", 1.0)}


def mark(key: str, value: float | None, *outside: str) -> LearnedLimit:
    """Return what one mark came to."""
    return LearnedLimit("x", Measure("a", key), 3, 9, 475.0, 1.0, value, outside=outside)


def test_learned_marks_come_with_the_rest_of_their_section_and_not_where_a_good_node_would_fail() -> None:
    marks = [
        mark("active.nccl_allreduce.bus_gbps_min", 461.0),
        mark("active.ib_write.write_gbitps_min", None),
        mark("optics.celsius_max", 60.0, "n2"),
        mark("sensors.inlet_celsius_max", 35.0),
    ]
    present: dict[str, Any] = {"active": {"nccl_allreduce": {"bytes": "16G", "bus_gbps_min": 1, "compare": True}}}
    found = stored.learned(marks, present, {"sensors.inlet_celsius_max", "active.nccl_allreduce.compare"})
    assert {each.key: each.value for each in found} == {
        "active.nccl_allreduce.bus_gbps_min": 461.0,
        "active.nccl_allreduce.bytes": "16G",
    }
    assert stored.refused(marks) == ("optics.celsius_max is not proposed: n2 would fail 60",)
    assert stored.learned(marks[:1], {"active": 7}, set())[0].why.startswith("learned from 9 numbers of 3 nodes")
    nodes = [replace(node(name), told=(*node(name).told, *found)) for name in ("n1", "n2")]
    text = proposed_file.text(nodes, ORIGIN)
    assert "bus_gbps_min: 461 # learned from 9 numbers of 3 nodes, median 475 (baseline)\n" in text
    assert yaml.safe_load(text)["fleet_profile"]["active"] == {
        "nccl_allreduce": {"bus_gbps_min": 461, "bytes": "16G"}
    }


def test_the_time_of_the_newest_text_is_the_nodes_day() -> None:
    assert stored.node("n1", {"lscpu": Piece("{}", AT), "df": Piece("", 1.0)}).day == "2026-09-21"
