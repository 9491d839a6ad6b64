"""The design of the lab holds together for every size."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.lab import plan

SERVERS = st.integers(1, plan.MOST_SERVERS)


@given(SERVERS)
def test_every_port_has_at_most_one_cable(servers: int) -> None:
    ends = Counter(end for plug in plan.cables(servers) for end in ((plug.a, plug.a_port), (plug.b, plug.b_port)))
    assert set(ends.values()) == {1}


@given(SERVERS)
def test_every_rail_of_every_server_ends_at_its_own_leaf(servers: int) -> None:
    rails = {(plug.a, plug.a_port): plug.b for plug in plan.cables(servers) if plug.a_port.startswith("ib")}
    expected = {
        (plan.server(number), f"ib{rail}"): f"leaf-{rail + 1}"
        for number in range(1, servers + 1)
        for rail in range(plan.RAILS)
    }
    assert rails == expected


@given(SERVERS)
def test_identifiers_are_unique_and_well_formed(servers: int) -> None:
    numbers = range(1, servers + 1)
    guids = [plan.hca_guid(number, rail) for number in numbers for rail in range(plan.RAILS)]
    guids += [plan.switch_guid(name) for name in (*plan.leaves(), *plan.spines())]
    serials = [plan.gpu_serial(number, gpu) for number in numbers for gpu in range(plan.GPUS)]
    uuids = [plan.gpu_uuid(number, gpu) for number in numbers for gpu in range(plan.GPUS)]
    assert all(len(guid) == 16 and int(guid, 16) for guid in guids)
    assert all(len(uuid) == len("GPU-") + 36 for uuid in uuids)
    for listed in (guids, serials, uuids, [plan.mac(number) for number in numbers]):
        assert len(set(listed)) == len(listed)


@given(SERVERS)
def test_no_two_devices_fill_the_same_rack_unit(servers: int) -> None:
    filled: list[tuple[str, int]] = [(place.rack, place.unit) for place in plan.switch_places().values()]
    for number in range(1, servers + 1):
        place = plan.server_place(number)
        filled += [(place.rack, place.unit + unit) for unit in range(plan.SERVER_UNITS)]
    assert len(set(filled)) == len(filled)
    assert all(1 <= unit <= 42 for _, unit in filled)


def test_eight_servers_stand_in_two_racks() -> None:
    assert {plan.server_place(number).rack for number in range(1, 9)} == {"A01", "A02"}
