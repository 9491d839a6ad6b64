"""What the role left behind: nothing on the node, and in the spool that its links are the designed ones."""

from tests.scenario import found


def test_each_kind_of_link_was_held_against_the_design() -> None:
    """The adapter that nobody designed is another node's."""
    assert found.verdicts() == dict.fromkeys(("cabling_infiniband", "cabling_ethernet", "optics"), found.PASS)
    (first, _) = found.results()["cabling_infiniband"]
    assert first.message == "InfiniBand links as designed: 2"


def test_the_module_of_each_adapter_was_read_by_itself() -> None:
    """And the fabric once."""
    calls = [
        "ibnetdiscover -p",
        "lldpctl -f json0",
        "mlxlink -d mlx5_0 -m --json",
        "mlxlink -d mlx5_1 -m --json",
    ]
    assert found.asked() == sorted(calls * found.RUNS)
