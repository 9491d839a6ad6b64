"""Which ports of a node lie in one fabric."""

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.rails import eyes, rails


def joined(text: str) -> Link:
    """Return "gpu-1 ib0 leaf-1 7" as a link."""
    device, port, other, far = text.split()
    return link(Port(device, port), Port(other, far))


def test_ports_are_gathered_by_the_switches_that_the_design_joins() -> None:
    """Over spines, however far; a server joins nothing."""
    links = [
        joined("gpu-1 ib0 leaf-1 1"),
        joined("gpu-1 ib1 leaf-2 1"),
        joined("gpu-1 ib2 leaf-3 1"),
        joined("gpu-1 ib3 leaf-4 1"),
        joined("gpu-2 ib0 leaf-1 2"),
        joined("gpu-2 ib2 leaf-3 2"),
        joined("leaf-1 9 spine-1 1"),
        joined("leaf-2 9 spine-2 1"),
        joined("core-1 1 spine-1 8"),
        joined("core-1 2 spine-2 8"),
    ]
    ports = [[port.interface for port in rail] for rail in rails(links, "gpu-1", {"gpu-1", "gpu-2"})]
    assert ports == [["ib0", "ib1"], ["ib2"], ["ib3"]]
    assert rails(links, "gpu-9", {"gpu-9"}) == ()


def test_a_node_has_eyes_in_each_of_several_fabrics() -> None:
    """Those that its profile names."""
    rows = [["gpu-1", f"ib{n}", f"leaf-{n}", "1", "infiniband-ndr", []] for n in range(3)]
    fabric = {"links": rows, "devices": {"gpu-1": {"role": "gpu-server"}}}
    named = {"hca_interfaces": {"mlx5_0": "ib0", "mlx5_2/2": "ib2"}}
    assert eyes(fabric, "gpu-1", named) == (("mlx5_0",), (), ("mlx5_2/2",))
    assert eyes(fabric, "gpu-1", {}) == ((), (), ())
    assert eyes({**fabric, "links": rows[:1]}, "gpu-1", named) == ()
    assert eyes({}, "gpu-1", named) == ()
