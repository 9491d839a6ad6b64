"""What the role left behind: nothing on the nodes, and in the spool what is not as designed in the fabric."""

from tests.scenario import found


def test_the_adapter_that_nobody_designed_is_the_one_fault() -> None:
    """Counters say nothing at a first look: what counts is by how much they have grown."""
    assert found.verdicts() == {"fabric_cabling": found.FAIL, "fabric_counters": found.PASS}
    for result in found.results()["fabric_cabling"]:
        assert [finding.code for finding in result.findings] == ["cabling.unplanned"]


def test_the_second_node_was_asked_through_its_own_adapter() -> None:
    """The first has no such tool, which is no news about the fabric."""
    calls = {call.split()[0]: call for call in found.asked()}
    assert set(calls) == {"ibnetdiscover", "iblinkinfo", "ibqueryerrors"}
    assert all("-C mlx5_1 -P 1" in call for call in calls.values())
    assert len(found.asked()) == len(calls) * found.RUNS
