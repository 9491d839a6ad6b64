"""What switches with Junos say of their own ports."""

import json
from collections.abc import Collection

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.port_states import junos
from fleet_runner.core.checks.parsers.port_states.port import (
    UNCORRECTED,
    SwitchPort,
)
from tests.core.checks.switch_answers import JUNOS


def test_junos_tells_speed_mtu_fec_pfc_and_what_it_did_not_correct() -> None:
    """A port that is down says FEC NONE, which nobody has set."""
    found = junos.read(JUNOS | {"modules": ""})
    assert found["et-0/0/1"] == SwitchPort(400_000, 9192, "rs", frozenset({3}), {UNCORRECTED: 0})
    assert found["et-0/0/2"] == SwitchPort(100_000, 9192, "rs", frozenset(), {UNCORRECTED: 12})
    assert found["et-0/0/3"] == SwitchPort(None, 9192, "", None, {UNCORRECTED: 0})
    assert found["et-0/0/4"] == SwitchPort(10_000, 1514, "", None, {UNCORRECTED: 0})
    assert found["gr-0/0/0"] == SwitchPort(800)
    with pytest.raises(EvidenceError, match="names no port"):
        junos.read({"interfaces": '{"interface-information": [{"physical-interface": [{"name": [{}]}, 5]}]}'})


NOTIFIED = "Physical interface: et-0/0/1, Index: 1024\n  Congestion-notification: "


ROWS = "".join(f"  {each:03b}          {'Enabled' if each in {3, 4} else 'Disabled'}   2240\n" for each in range(8))


ON = f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n"


OUTWARD = "Type: Output\nPriority   Flow-Control-Queues\n" + "  101          Enabled\n"


@pytest.mark.parametrize(
    ("cos", "profiles", "pfc"),
    [
        (f"{NOTIFIED}Disabled\n", "", frozenset()),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", f"Type: Input, Name: cnp, Index: 7\n{ROWS}", frozenset({3, 4})),
        (
            f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n",
            f"Name: cnp, Index: 7\nType: Input\nCable Length: 100 m\n{ROWS}{OUTWARD}Name: x, Index: 8\n{ROWS}",
            frozenset({3, 4}),
        ),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", f"Type: Input, Name: other, Index: 7\n{ROWS}", None),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", "Name: cnp, Index: 7\nType: Input\n  011010   Enabled\n", None),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", f"{ROWS}Name: cnp, Index: 7\n{ROWS[:100]}\n", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS}  011010          Enabled\n", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS}Type: Input\n{ROWS}", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS.replace('Enabled', 'Disabled')}", None),
        (ON, f"Type: Input, Name: cnp, Index: 7\n{ROWS}Type: Output, Name: cnp, Index: 7\n  101   Enabled\n", {3, 4}),
        (ON, f"Name: cnp, Index: 7\nName: a name of words, Index: 8\n{ROWS}", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS[:62]}Name: other, Index: 8\n{ROWS[62:]}", None),
        (f"{NOTIFIED}Enabled, Name: cnp-, Index: 7\n", f"Name: cnp, Index: 7\n{ROWS}", None),
        (NOTIFIED.replace("\n", "\nPhysical interface: et-0/0/9, Enabled\n") + "Disabled\n", "", None),
        (f"{NOTIFIED}Enabled, Index: 7\n", f"Name: cnp, Index: 7\n{ROWS}", None),
        (f"{NOTIFIED}Dis", "", None),
        ("  Congestion-notification: Disabled\n", "", None),
        ("error: the class-of-service subsystem is not running\n", "", None),
    ],
)
def test_junos_tells_pfc_only_by_a_profile_that_is_known_whole(
    cos: str, profiles: str, pfc: Collection[int] | None
) -> None:
    """One that goes by DSCP has other rows, or none that is on, and flow out of the port is told behind."""
    found = junos.read(JUNOS | {"cos": cos, "profiles": profiles})
    assert (found["et-0/0/1"].pfc, found["et-0/0/2"].pfc) == (pfc, None)


def test_junos_says_nothing_of_a_bundles_member_that_has_no_profile_of_its_own() -> None:
    row = {"ae-bundle-name": [{"data": "ae0.0"}], "name": [{"data": "et-0/0/1"}], "oper-status": [{"data": "up"}]}
    plain = {"interfaces": json.dumps({"interface-information": [{"physical-interface": [row]}]})}
    assert junos.read(plain | {"cos": f"{NOTIFIED}Disabled\n"})["et-0/0/1"].pfc is None
    cnp = {"cos": f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", "profiles": f"Name: cnp, Index: 7\n{ROWS}"}
    assert junos.read(plain | cnp)["et-0/0/1"].pfc == frozenset({3, 4})
