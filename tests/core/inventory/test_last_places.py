"""Where a node counts when the source of truth says it no more, or cannot be used."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.last_places import place
from fleet_runner.core.inventory.records import Device, Fleet, Place, Rack, rack_key

NODE = Device("gpu-1", "t", "gpu-server", "hall", "A", tenant="red")
RACKS = {rack_key("hall", name): Rack(name, "hall", location=f"row-{name}") for name in "AB"}
WAS = Place("hall", "hall/A", "hall/row-A", "red")
PLACES = st.builds(
    Place,
    st.sampled_from(["", "hall", "attic"]),
    st.sampled_from(["", "hall/A", "attic/A"]),
    st.sampled_from(["", "hall/row-A"]),
    st.sampled_from(["", "red"]),
)


def fleet(device: Device | None, was: Place | None = WAS) -> Fleet:
    """A source with this record of the node, or with none that can be used, and what the store remembers."""
    devices = {device.name: device} if device is not None else {}
    return Fleet(("attic", "hall"), RACKS, {}, devices, (), last_places={"gpu-1": was} if was is not None else {})


@given(PLACES)
def test_a_node_whose_record_cannot_be_used_counts_where_it_was(was: Place) -> None:
    assert place(fleet(None, was), "gpu-1") == was


@given(PLACES)
def test_a_rack_that_the_source_names_is_the_one_that_counts(was: Place) -> None:
    assert place(fleet(NODE, was), "gpu-1") == WAS


@pytest.mark.parametrize(
    ("now", "counts"),
    [
        (replace(NODE, rack=None), WAS),
        (replace(NODE, rack=None, tenant=None), WAS._replace(tenant="")),
        (replace(NODE, rack=None, context={"failure_domain": "feed-1"}), WAS._replace(domain="hall/feed-1")),
        (replace(NODE, rack="B"), Place("hall", "hall/B", "hall/row-B", "red")),
        (replace(NODE, rack=None, site="attic"), Place("attic", "", "", "red")),
    ],
)
def test_a_record_that_names_no_rack_takes_the_node_out_of_none(now: Device, counts: Place) -> None:
    """Only another rack or another site does; its tenant is what the record says."""
    assert place(fleet(now), "gpu-1") == counts


def test_a_node_of_which_nothing_was_ever_known_has_no_place() -> None:
    assert place(fleet(None, None), "gpu-1") == Place()
    assert place(fleet(replace(NODE, rack=None), None), "gpu-1") == Place("hall", "", "", "red")
