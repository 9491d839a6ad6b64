"""Is an NVLink domain one machine?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvlink_trays import KEY, silent
from fleet_runner.core.checks.verdicts import UNSURE, Remedy, Result, Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.core.nvlink.common_cause import COMMON
from tests.core.checks.catalogue.judging import cuts, judged
from tests.core.nvlink.racks import fleet, whole

CLUSTER = "9c6f5af3-53bf-49b5-a436-b66766c413c3"
TRAYS = [f"a03-tray-{number}" for number in range(1, 19)]
DOMAIN = "nvlink.hall-1.A03"
HOSTS = [f"10.20.0.{number}" for number in range(1, 19)]
EVERY = list(range(18))


def tray(number: int, down: list[int] | None = None, **changed: Any) -> dict[str, Any]:
    """What a compute tray of four GPUs says, with these links down at each of them."""
    gone = down or []
    up = [link for link in EVERY if link not in gone]
    row = ["Completed", "Success", changed.pop("cluster", CLUSTER), changed.pop("clique", "1"), up, gone, False]
    members = [[host, "READY", "580.95.05"] for host in HOSTS]
    service = {"active": True, "hosts": HOSTS, "status": ["UP", members]}
    return {
        "driver": "580.95.05",
        "gpus": [[f"000{gpu}:01:00.0", *row] for gpu in range(4)],
        "addresses": [HOSTS[number - 1]],
        "imex": service,
        "unread": [],
    } | changed


def rack(**changed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """18 trays that are well, but for those that are named ("tray_3")."""
    found = {name: tray(number) for number, name in enumerate(TRAYS, start=1)}
    return found | {f"a03-{name.replace('_', '-')}": each for name, each in changed.items()}


def asked(trays: dict[str, Any], *, imex: bool = True, **design: Any) -> Result:
    """Judge what the trays say against the design of a whole NVL72."""
    return raw(json.dumps({KEY: trays}), imex=imex, **design)


def raw(text: str, *, imex: bool = True, **design: Any) -> Result:
    """Judge a text."""
    source = fleet(*whole())
    device = ansible.fabric_hostvars(source)[DOMAIN]["fleet_device"] | design
    profiles = {"gb200-tray": {"imex": {"domain_wide": True}} if imex else {}}
    expected = Expected(DOMAIN, device=device, fabric=ansible.fabric(source), profiles=profiles)
    return judged("fabric_nvlink", {"nvlink_trays": text}, expected)


def found(result: Result) -> list[tuple[str, str]]:
    """Code and component of each finding."""
    return [(each.code, each.component) for each in result.findings]


def test_a_rack_that_is_one_machine_passes() -> None:
    """In one partition, or in several that nobody designed: NetBox need not know them."""
    result = asked(rack())
    assert (result.verdict, result.message) == (Verdict.PASS, "18 compute trays with 72 GPUs are one NVLink domain")
    parted = asked(rack(tray_3=tray(3, clique="2")))
    assert parted.message == "18 compute trays with 72 GPUs are one NVLink domain in 2 partitions"


def test_cutting_the_sweep_anywhere_never_condemns_anything() -> None:
    """Nor does nonsense."""
    for text in (*cuts(json.dumps({KEY: rack(tray_3=tray(3, [4, 5]))})), "", "null", "{}"):
        assert raw(text).verdict is Verdict.UNKNOWN


@given(st.sets(st.sampled_from(TRAYS), max_size=18))
def test_trays_that_do_not_answer_are_unknown_and_nothing_else(quiet: set[str]) -> None:
    """Whichever they are, the others are judged; nobody is called bad for them."""
    result = asked(rack() | {name: silent("it does not answer") for name in quiet})
    assert result.verdict is (Verdict.UNKNOWN if quiet else Verdict.PASS)
    assert result.findings == ()
    assert set(result.observed.get(UNSURE, quiet)) == quiet


def test_a_tray_that_is_out_for_repair_leaves_the_others_as_they_are() -> None:
    """It was not asked: the others reach it no more, and that is said and no trouble."""
    members = [[host, "READY" if host != HOSTS[2] else "UNAVAILABLE", "580.95.05"] for host in HOSTS]
    service = {"active": True, "hosts": HOSTS, "status": ["DEGRADED", members]}
    trays = {name: tray(number, imex=service) for number, name in enumerate(TRAYS, start=1) if number != 3}
    result = asked(trays)
    assert result.verdict is Verdict.PASS
    assert result.message.endswith("17 compute trays with 68 GPUs are one NVLink domain; not in service: a03-tray-3")


def test_a_configuration_by_names_that_nobody_knows_is_unknown() -> None:
    """Every tray is in it, by a name of another network."""
    hosts = [f"imex-{number}" for number in range(1, 19)]
    service = {"active": True, "hosts": hosts, "status": ["UP", [[host, "READY", "580.95.05"] for host in hosts]]}
    result = asked({name: tray(number, imex=service) for number, name in enumerate(TRAYS, start=1)})
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert "/etc/nvidia-imex/nodes_config.cfg names imex-1, imex-10" in result.message


def test_a_lost_switch_tray_is_one_finding_and_no_gpu_is() -> None:
    """It is named, as the design says which links lead to it; the trays are named as those that it explains."""
    result = asked({name: tray(number, [4, 5]) for number, name in enumerate(TRAYS, start=1)})
    (finding,) = result.findings
    assert (finding.code, finding.component, finding.remedy) == ("nvlink.switch_tray", "a03-switch-3", Remedy.TRIAGE)
    assert finding.message == (
        "NVLinks 4, 5 are down at every GPU of all 18 compute trays that answered: the switch tray a03-switch-3 is"
        " lost, no GPU is"
    )
    assert finding.devices == ("a03-switch-3",)
    assert len(finding.steps) == 3
    assert set(result.observed[COMMON]) == set(TRAYS)


@pytest.mark.parametrize(
    ("design", "components"),
    [
        ({}, ["NVLinks 4, 5"]),
        ({"s": [4]}, ["s", "NVLinks 5"]),
        ({"s": [4], "t": [5]}, ["s", "t"]),
        ({"s": [4, 6]}, ["NVLinks 4, 5"]),
    ],
)
def test_links_that_the_design_leads_nowhere_are_named_by_their_numbers(
    design: dict[str, list[int]], components: list[str]
) -> None:
    """As are those of a switch tray of which other links are up."""
    lost = {name: tray(number, [4, 5]) for number, name in enumerate(TRAYS, start=1)}
    assert [component for _, component in found(asked(lost, nvlinks=design))] == components


def test_a_switch_tray_whose_links_differ_from_gpu_to_gpu_is_found_without_its_name() -> None:
    """The same for the same place in each tray."""
    trays = {name: tray(number) for number, name in enumerate(TRAYS, start=1)}
    for each in trays.values():
        for place, gpu in enumerate(each["gpus"]):
            gpu[5], gpu[6] = [link for link in EVERY if link not in {place, place + 4}], [place, place + 4]
    (finding,) = asked(trays).findings
    assert (finding.component, finding.devices) == ("a switch tray", ())
    assert finding.message.startswith("2 of each GPU's NVLinks are down at every GPU of all 18 compute trays")


def test_without_any_link_the_switch_trays_are_looked_at() -> None:
    """The tool calls all links inactive, and lists none."""
    trays = rack()
    for each in trays.values():
        for gpu in each["gpus"]:
            gpu[5:] = [], [], True
    result = asked(trays)
    assert found(result) == [("nvlink.switch_tray", "all switch trays")]
    assert "have no power, or their control does not run" in result.message


def test_ports_that_several_trays_share_are_one_finding() -> None:
    """Two trays: by places where their links differ from GPU to GPU."""
    result = asked(rack(tray_3=tray(3, [4]), tray_4=tray(4, [4])))
    assert found(result) == [("nvlink.switch_ports", "NVLinks 4 of a03-tray-3, a03-tray-4")]
    pair = [tray(3), tray(4)]
    for each in pair:
        for place, gpu in enumerate(each["gpus"]):
            gpu[6] = [place]
    ((_, component),) = found(asked(rack(tray_3=pair[0], tray_4=pair[1])))
    assert component.startswith("NVLinks 0 of GPU 0; 1 of GPU 1")


def test_what_one_tray_sees_alone_is_left_to_its_own_checks() -> None:
    """It is told, and nobody is sent a second time."""
    port = tray(5)
    port["gpus"][1][6] = [7]
    result = asked(rack(tray_3=tray(3, EVERY), tray_4=tray(4, [4, 5]), tray_5=port))
    assert found(result) == [
        ("nvlink.tray", "a03-tray-3"), ("nvlink.connector", "a03-tray-4"), ("nvlink.port", "a03-tray-5")
    ]  # fmt: skip
    assert {each.remedy for each in result.findings} == {Remedy.WATCH}
    assert result.observed[COMMON] == []
    assert "NVLinks 7 of GPU 1 of a03-tray-5 are down" in result.message


def test_a_wrong_partition_is_found_by_the_design() -> None:
    """And a tray of another cluster without any."""
    halves = {name: "left" if number < 9 else "right" for number, name in enumerate(TRAYS)}
    parted = {name: tray(number, clique="1" if number < 10 else "2") for number, name in enumerate(TRAYS, start=1)}
    assert asked(parted, partitions=halves).verdict is Verdict.PASS
    parted["a03-tray-3"] = tray(3, clique="2")
    result = asked(parted, partitions=halves)
    assert found(result) == [("nvlink.partition", "a03-tray-3")]
    assert result.findings[0].devices == ("a03-tray-3",)
    assert found(asked(rack(tray_3=tray(3, cluster="other")))) == [("nvlink.cluster", "a03-tray-3")]


def test_imex_is_judged_where_the_profile_wants_it_all_the_time() -> None:
    """Elsewhere a scheduler starts it with its jobs, and what of it cannot be read is not missed."""
    missing = [host for host in HOSTS if host != HOSTS[2]]
    status = ["UP", [[host, "READY", "580.95.05"] for host in missing]]
    service = {"active": True, "hosts": missing, "status": status}
    trays = {name: tray(number, imex=service, unread=[]) for number, name in enumerate(TRAYS, start=1)}
    assert found(asked(trays)) == [("imex.missing", "a03-tray-3")]
    assert asked(trays, imex=False).verdict is Verdict.PASS
    blind = rack(tray_3=tray(3, unread=["imex_status: cannot connect"]))
    assert asked(blind).verdict is Verdict.UNKNOWN
    assert asked(blind, imex=False).verdict is Verdict.PASS


def test_another_driver_is_found() -> None:
    result = asked(rack(tray_3=tray(3, driver="575.57.08"), tray_4=tray(4, driver="")))
    assert found(result) == [("nvlink.driver", "a03-tray-3")]
    assert result.message == "driver of a03-tray-3 is 575.57.08, expected 580.95.05 as on 16 trays of its domain"


def test_what_a_tray_does_not_tell_is_unknown() -> None:
    """GPUs that have not joined, links that are not told, one GPU fewer than elsewhere, a gap of the design."""
    joining, mute, fewer = tray(3), tray(4), tray(5)
    joining["gpus"][0][1] = "In Progress"
    mute["gpus"][0][5:7] = None, None
    fewer["gpus"].pop()
    for trays, words in (
        (rack(tray_3=joining), "a03-tray-3: its GPUs have not all joined one partition"),
        (rack(tray_4=mute), "a03-tray-4: its links are not told"),
        (rack(tray_5=fewer), "a03-tray-5 shows 3 GPUs, other trays 4"),
    ):
        result = asked(trays)
        assert (result.verdict, result.message) == (Verdict.UNKNOWN, words)
    assert asked(rack(), gaps=["no partition"]).message == "the source of truth: no partition"


def test_without_any_tray_nothing_is_known() -> None:
    """Each says why, or none is in service."""
    result = asked({TRAYS[0]: silent("it does not answer")})
    assert result.message == "no compute tray could be read: a03-tray-1: it does not answer"
    assert asked({}).message == "no compute tray could be read: none is in service"
