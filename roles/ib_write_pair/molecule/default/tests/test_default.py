"""What the role left behind: one end of a pair, written to once, and judged at its end."""

from tests.scenario import found


def test_the_node_judged_what_it_measured_once_it_had_ended() -> None:
    """In the first run already: it waits for the pair."""
    assert found.verdicts() == {"ib_write_pair": found.PASS}
    assert {each.observed["gbitps"] for each in found.results()["ib_write_pair"]} == {392.0}


def test_its_end_was_begun_once_with_what_the_pair_agreed_on() -> None:
    """The second run found it done. Nobody is named: this end is the server."""
    (call,) = found.asked()
    assert call == "ib_write_bw -d mlx5_9 -i 1 -p 18516 -q 12 -s 65536 -b -F --report_gbits -D 1"
