"""Where parts went, and what befell them."""

from dataclasses import replace

from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.parts.travels import history
from fleet_runner.core.tickets.rma_cases import Case, Replaced

FIRST = Stay(1, "gpu", "S1", "n1", "0000:1b", "GPU 3", 10.0, 20.0)
SECOND = Stay(2, "gpu", "S1", "n2", "0000:5d", "", 30.0, 40.0)
FAULT = Episode(1, "n1", "0000:1b NVLink 2", "xid.74", "f", "nvlink", "S1", 15.0, 18.0, 3)
CASE = Case(1, "n2", "Vendor", "77", "ann", 41.0, (Replaced("GPU 5", "S1", "S9"), Replaced("GPU 6")))


def test_a_part_is_followed_over_nodes_to_its_vendor() -> None:
    """In the order of time, each line with where and which."""
    lines = history([SECOND, FIRST], [FAULT], [CASE])
    assert [(line.at, line.node, line.place, line.sentence) for line in lines] == [
        (10.0, "n1", "GPU 3 (0000:1b)", "gpu S1 first seen here"),
        (15.0, "n1", "GPU 3 (0000:1b)", "failed with xid.74, seen 3 times"),
        (30.0, "n2", "0000:5d", "gpu S1 first seen here, came from n1 GPU 3 (0000:1b)"),
        (41.0, "n2", "GPU 5", "sent back with case 77 at Vendor; S9 came in its place"),
    ]
    assert lines[0].to_json() == {
        "at": 10.0, "node": "n1", "place": "GPU 3 (0000:1b)", "serial": "S1", "sentence": "gpu S1 first seen here",
    }  # fmt: skip


def test_a_place_tells_which_part_came_after_which() -> None:
    """Also where a serial number is not known."""
    after = replace(FIRST, id=3, serial="S2", first_at=21.0)
    untold = replace(FIRST, id=4, serial="", first_at=50.0, last_at=60.0)
    said = [line.sentence for line in history([FIRST, after, untold], [], [])]
    assert said == [
        "gpu S1 first seen here",
        "gpu S2 first seen here, in place of S1",
        "gpu of unknown serial number first seen here, in place of S2",
    ]


def test_a_node_as_a_whole_has_a_name_as_a_place_too() -> None:
    """It has no component, and its serial number is that of its chassis or not known at all."""
    (line,) = history([Stay(5, "node", "", "n1", "", "", 10.0, 20.0)], [], [])
    assert (line.place, line.sentence) == ("node", "node first seen here")


def test_what_is_of_others_is_left_out() -> None:
    """Faults of another node, another time, another part, of the node itself; cases of other parts."""
    untold = replace(FAULT, serial="", seen=1)
    others = [replace(FAULT, node="n9"), replace(FAULT, serial="S7"), replace(untold, first_at=99.0),
              replace(FAULT, component="")]  # fmt: skip
    assert len(history([FIRST], others, [replace(CASE, parts=(Replaced("GPU 5", "X", "Y"),))])) == 1
    assert history([FIRST], [untold], [])[1].sentence == "failed with xid.74"
    assert len(history([replace(FIRST, serial="")], [FAULT], [])) == 1
    came = replace(CASE, parts=(Replaced("GPU 1", "", "S1"), Replaced("GPU 2", "S0", "S1"), Replaced("GPU 3", "S1")))
    assert [line.sentence for line in history([FIRST], [], [came])[1:]] == [
        "came with case 77 at Vendor", "came with case 77 at Vendor for S0", "sent back with case 77 at Vendor",
    ]  # fmt: skip
