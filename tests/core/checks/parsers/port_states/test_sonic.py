"""What switches with SONiC say of their own ports."""

from fleet_runner.core.checks.parsers.port_states import sonic
from fleet_runner.core.checks.parsers.port_states.port import (
    DOWNS,
    ECN_MARKS,
    LOSSLESS_DROPS,
    STORM_DROPS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
)
from tests.core.checks.switch_answers import SONIC


def test_sonic_tells_settings_errors_storms_and_what_wred_did_of_each_port() -> None:
    """A hundred packets in each direction and more were dropped while the watchdog saw storms."""
    found = sonic.read(SONIC)
    told = {UNCORRECTED: 0, STORMS: 0, STORM_DROPS: 0, LOSSLESS_DROPS: 0, ECN_MARKS: 1_032_731, DOWNS: 2}
    assert found["Ethernet0"] == SwitchPort(400_000, 9100, "rs", frozenset({3}), told)
    told = {UNCORRECTED: 1204, STORMS: 2, STORM_DROPS: 400, LOSSLESS_DROPS: 1204, ECN_MARKS: 32, DOWNS: 0}
    assert found["Ethernet8"].counts == told
    assert found["Ethernet24"] == SwitchPort(100_000, 9100, "", frozenset(), {STORMS: 0, STORM_DROPS: 0})
    alone = sonic.read({"status": SONIC["status"]})
    assert alone["Ethernet0"] == SwitchPort(400_000, 9100, "rs", None, {})


def test_sonic_names_no_queue_without_a_storm_and_a_storm_is_growth_where_none_was_before() -> None:
    titles = SONIC["watchdog"].splitlines(keepends=True)[:-1]
    none = sonic.read(SONIC | {"watchdog": "".join(titles)})
    assert {(each.counts[STORMS], each.counts[STORM_DROPS]) for each in none.values()} == {(0, 0)}
    for untold in (
        "",
        "".join(titles).rstrip("\n"),
        SONIC["watchdog"].rstrip("\n") + "\n  Ethernet0:3  oper",
        "Error\n",
    ):
        assert STORMS not in sonic.read(SONIC | {"watchdog": untold})["Ethernet0"].counts


def test_sonic_may_have_lossy_and_odd_words_that_are_not_known() -> None:
    """What WRED dropped in a queue is only told where it is known that the queue should lose nothing."""
    odd = SONIC["pfc"].replace("Ethernet8   3", "Ethernet8   9").replace("Ethernet16  3", "Ethernet16   ")
    found = sonic.read(SONIC | {"pfc": odd})
    assert (found["Ethernet8"].pfc, found["Ethernet16"].pfc) == (None, None)
    assert LOSSLESS_DROPS not in found["Ethernet8"].counts


def test_a_port_of_sonic_whose_queues_were_cut_off_tells_nothing_of_them() -> None:
    """Half of a port's queues would later seem to be growth."""
    whole = SONIC["wred"].rstrip("\n") + "\n"
    found = sonic.read(SONIC | {"wred": whole})
    assert ECN_MARKS in found["Ethernet0"].counts
    assert ECN_MARKS not in found["Ethernet8"].counts


def test_sonic_counts_each_change_of_a_ports_state_and_says_never_where_there_was_none() -> None:
    """Releases that do not know the command say so in other words."""
    found = sonic.read(SONIC)
    assert [port.counts.get(DOWNS) for port in found.values()] == [2, 0, 0, None]
    unknown = "Error: No such command 'flap'.\n"
    assert DOWNS not in sonic.read(SONIC | {"flaps": unknown})["Ethernet0"].counts
