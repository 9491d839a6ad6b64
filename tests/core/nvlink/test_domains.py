"""Which trays are one NVLink domain, as the source of truth says it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.fabrics import fabrics, watched
from fleet_runner.core.cabling.observers import observers
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.consistency import problems, remainder
from fleet_runner.core.inventory.records import Device, Termination
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.nvlink.domains import KEYS, domains, drains_with, wrong
from tests.core.inventory.test_consistency import draft_of
from tests.core.nvlink.racks import SITE, fleet, switch, tray, whole
from tests.fleets import JSON
from tests.making import a_node


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.sampled_from(["gpu-server", "nvlink-switch"]))
def test_whatever_a_context_says_a_device_is_in_one_domain_at_most(context: dict[str, Any], role: str) -> None:
    """What is wrong is said, and the device is in none; what is in one has all that a domain needs."""
    odd = Device("odd", "t", role, SITE, rack="A03", context=context)
    found = [each for each in domains(fleet(odd)) if "odd" in (*each.trays, *each.switches)]
    assert len(found) == (context.get("nvlink_domain") is not None and not wrong(odd))
    assert all(link >= 0 for each in found for links in each.links.values() for link in links)


def test_a_rack_is_one_domain_with_its_compute_and_switch_trays() -> None:
    """A power shelf of the rack is no tray."""
    (domain,) = domains(fleet(*whole()))
    assert (domain.name, domain.site, domain.racks, domain.gaps) == ("A03", SITE, ("A03",), ())
    assert domain.trays[:2] + domain.trays[-1:] == ("a03-tray-1", "a03-tray-2", "a03-tray-18")
    assert (len(domain.trays), len(domain.switches)) == (18, 9)
    assert domain.links["a03-switch-9"] == {16, 17}


def test_a_named_domain_may_span_racks() -> None:
    """As two racks of 36 GPUs do that are joined; the same name at another site is another domain."""
    named = [replace(tray(1, rack), context={"nvlink_domain": "twin-1"}) for rack in ("A03", "A04")]
    away = replace(tray(1, "B01"), site="hall-2", context={"nvlink_domain": "twin-1"})
    found = domains(fleet(*named, away))
    assert [(each.site, each.racks) for each in found] == [(SITE, ("A03", "A04")), ("hall-2", ("B01",))]


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (tray(1, nvlink_domain=7), "its nvlink_domain is 7, expected 'rack' or a name"),
        (tray(1, nvlink_domain=" "), "its nvlink_domain is ' '"),
        (tray(1, None), "its rack is unknown; give it a rack, or name its domain"),
        (tray(1, nvlink_partition=["a"]), "its nvlink_partition is ['a']"),
        (tray(1, nvlink_partition=True), "its nvlink_partition is True"),
        (switch(1, nvlink_links="0-1"), "its nvlink_links are '0-1', expected a list of numbers from 0 to 63"),
        (switch(1, nvlink_links=[64]), "its nvlink_links are [64]"),
        (tray(1, nvlink_drain="rack"), "its nvlink_drain is 'rack', expected 'tray', 'partition' or 'domain'"),
        (tray(1, nvlink_drain="partition"), "its nvlink_drain is 'partition' and it has no nvlink_partition"),
        (replace(tray(1), context={"nvlink_partition": "a"}), "it has nvlink_partition and no nvlink_domain"),
    ],
)
def test_a_context_that_cannot_be_used_is_an_error_and_costs_the_device_no_more_than_its_domain(
    device: Device, words: str
) -> None:
    """In site files it is refused; in a NetBox the device goes on as one without a domain, and a note says so."""
    draft = draft_of(fleet(device))
    (problem,) = [each for each in problems(replace(draft, roles=frozenset({device.role}))) if "nvlink" in each.text]
    assert words in problem.text
    assert problem.where.endswith(".context")
    assert domains(fleet(device)) == ()


class Page:
    """A record's page in NetBox: one place for all of its fields."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, field: str = "") -> str:
        """Return it."""
        del field
        return f"dcim/{self.number}"


def test_a_netbox_with_half_a_design_keeps_its_device() -> None:
    """A note says what is left out; the device beside it is as it was."""
    read = draft_of(fleet(tray(1, nvlink_domain=7, keep="me"), tray(2)))
    read = replace(
        read,
        devices=[each._replace(where=Page(at)) for at, each in enumerate(read.devices)],
    )
    left = remainder(read, {})
    assert [dict(found.record.context) for found in left.draft.devices] == [{"keep": "me"}, {"nvlink_domain": "rack"}]
    assert left.unread == {}
    assert [each for each in left.told if "it belongs to no NVLink domain until that is right" in each]


def left_of(*devices: Device) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
    """What is left of each device's context, and what is told; no device is left out."""
    read = draft_of(fleet(*devices))
    read = replace(read, devices=[each._replace(where=Page(at)) for at, each in enumerate(read.devices)])
    left = remainder(read, {})
    assert left.unread == {}
    return {each.record.name: dict(each.record.context) for each in left.draft.devices}, left.told


def test_domains_that_are_called_alike_keep_their_trays() -> None:
    """The first goes on as it was, the trays of the other one without a domain; in site files it is one error."""
    first = [tray(1, nvlink_domain="twin 1"), tray(2, nvlink_domain="twin 1")]
    second = [tray(number, nvlink_domain="twin.1") for number in (3, 4)]
    lone = [switch(1, nvlink_domain="twin!1")]
    contexts, told = left_of(*lone, *second, *first)
    assert {name: each.get("nvlink_domain") for name, each in contexts.items()} == {
        "a03-tray-1": "twin 1", "a03-tray-2": "twin 1", "a03-tray-3": None, "a03-tray-4": None, "a03-switch-1": None,
    }  # fmt: skip
    words = "the fabrics of 'a03-tray-1' and 'a03-tray-3' would both be 'nvlink.hall-1.twin_1'; rename a domain"
    assert [each for each in told if words in each and "belong to no NVLink domain until that is right" in each]
    assert len(told) == 2
    found = [each for each in problems(draft_of(fleet(*first, *second))) if "would both be" in each.text]
    assert [(each.text, each.where.endswith(".context")) for each in found] == [(words, True)]


def test_a_rack_and_a_domain_of_other_racks_with_its_name_are_two() -> None:
    """What worked goes on: the rack is a domain, with trays of it that give its name; the other one is told of."""
    own = [tray(1), tray(2), switch(1, nvlink_domain="A03"), replace(switch(2, nvlink_domain="A03"), rack=None)]
    away = [tray(1, "B07", nvlink_domain="A03"), switch(1, "B07", nvlink_domain="A03")]
    first, second = domains(fleet(*away, *own))
    assert (first.trays, len(first.switches), second.trays) == (("a03-tray-1", "a03-tray-2"), 2, ("b07-tray-1",))
    contexts, told = left_of(*away, *own)
    assert [name for name, each in contexts.items() if "nvlink_domain" not in each] == ["b07-tray-1", "b07-switch-1"]
    assert "would both be 'nvlink.hall-1.A03'; rename a domain" in told[0]
    (named,) = domains(fleet(*away, tray(1, nvlink_domain="A03")))  # where no rack is one, a name is a name
    assert named.trays == ("a03-tray-1", "b07-tray-1")


def test_what_is_missing_of_a_domain_is_said() -> None:
    """Partitions that only some trays have, links that two switch trays claim, and switch trays without any tray."""
    (domain,) = domains(
        fleet(tray(1, nvlink_partition=3), tray(2), switch(1, nvlink_links=[0, 1]), switch(2, nvlink_links=[1]))
    )
    assert domain.partitions == {"a03-tray-1": "3"}
    assert domain.gaps == (
        "1 of 2 compute trays have no nvlink_partition (a03-tray-2)",
        "nvlink_links of a03-switch-1 and a03-switch-2 both name link 1, expected one switch tray for each",
    )
    (empty,) = domains(fleet(switch(1)))
    assert empty.gaps == (
        "no compute tray of it has nvlink_domain; set it in the config context of their device type",
    )


def test_a_domain_is_watched_as_a_fabric_is() -> None:
    """It is named after its site and rack; one without a compute tray is not watched: nothing could look at it."""
    source = fleet(*whole(), switch(1, "A04"))
    (found,) = watched(source)
    assert fabrics(source) == ()
    assert (found.name, found.kind, found.record.device_type) == ("nvlink.hall-1.A03", "nvlink", "nvlink-fabric")
    assert (found.first, found.size) == ("a03-switch-1", "18 compute trays and 9 switch trays of hall-1, rack A03")
    rows = {name: a_node(name=name) for name in source.devices} | {"a03-tray-2": a_node(State.RMA, name="a03-tray-2")}
    asked = observers(found, source, rows)
    assert len(asked) == 17
    assert Termination("a03-tray-2", "") not in asked


def test_its_play_is_told_the_design() -> None:
    """All compute trays are asked, however many there are."""
    (found,) = ansible.fabric_hostvars(fleet(tray(1, nvlink_partition="a"), switch(1, nvlink_links=[1, 0]))).values()
    assert found["fleet_observers"] == [["a03-tray-1", ""]]
    assert found["fleet_device"] == {
        "name": "nvlink.hall-1.A03", "role": "nvlink-fabric", "device_type": "nvlink-fabric", "site": SITE,
        "kind": "nvlink", "switches": ["a03-switch-1"], "trays": ["a03-tray-1"], "partitions": {"a03-tray-1": "a"},
        "nvlinks": {"a03-switch-1": [0, 1]}, "gaps": [],
    }  # fmt: skip


def test_a_tray_without_a_rack_names_its_domain() -> None:
    """And is found by a tray, where no switch tray is known."""
    lone = replace(tray(1, None), context={"nvlink_domain": "twin-1"})
    (found,) = watched(fleet(lone))
    assert (found.first, found.size) == ("x-tray-1", "1 compute tray and 0 switch trays of hall-1")


def test_which_trays_drain_as_one_is_said_by_each_tray() -> None:
    """One that says nothing, or `tray`, drains alone; a switch tray drains nothing."""
    said = [
        tray(1, nvlink_drain="domain"), tray(2, nvlink_drain="tray"), tray(3),
        tray(4, nvlink_drain="partition", nvlink_partition=4), switch(1, nvlink_drain="domain"),
    ]  # fmt: skip
    (domain,) = domains(fleet(*said))
    assert domain.drains == {"a03-tray-1": "domain", "a03-tray-4": "partition"}
    assert [drains_with(each) for each in said] == [("", "domain"), ("", ""), ("", ""), ("4", "partition"), ("", "")]
