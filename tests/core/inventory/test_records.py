"""The records say where a device stands and which devices have a lifecycle."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.records import NODE_ROLES, Device, Fleet, Rack, Termination, nodes, rack_key

DEVICES = st.lists(
    st.builds(
        Device,
        st.text(min_size=1, max_size=5),
        st.just("type"),
        st.sampled_from(["gpu-server", "leaf"]),
        st.just("x"),
    ),
    max_size=8,
    unique_by=lambda device: device.name,
)


def fleet(*devices: Device) -> Fleet:
    return Fleet(
        ("hall-1",),
        {rack_key("hall-1", "A03"): Rack("A03", "hall-1")},
        {},
        {device.name: device for device in devices},
        (),
    )


def test_a_place_is_site_rack_and_unit() -> None:
    device = Device("gpu-01", "type", "gpu-server", "hall-1", rack="A03", position=12)
    assert fleet(device).place("gpu-01") == "hall-1 rack A03 U12"


def test_a_place_says_what_the_source_does_not_know() -> None:
    assert fleet(Device("gpu-01", "type", "gpu-server", "hall-1")).place("gpu-01") == "hall-1 rack unknown U unknown"
    assert fleet().place("gpu-99") == "not in the source of truth"


def test_half_units_are_written_as_such() -> None:
    device = Device("mgmt-1", "type", "leaf", "hall-1", rack="A03", position=12.5)
    assert fleet(device).place("mgmt-1").endswith("U12.5")


def test_a_termination_reads_as_device_and_interface() -> None:
    assert str(Termination("leaf-1", "7")) == "leaf-1 7"


@given(DEVICES)
def test_nodes_are_the_devices_with_a_node_role_by_name(devices: list[Device]) -> None:
    found = nodes(fleet(*devices))
    assert [device.name for device in found] == sorted(device.name for device in devices if device.role in NODE_ROLES)


def test_two_sites_may_name_their_racks_alike() -> None:
    assert rack_key("hall-1", "A03") != rack_key("hall-2", "A03")
