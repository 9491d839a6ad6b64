"""Who may do what."""

import pytest

from fleet_runner.core.access.roles import LOOKS, MENDING, RIGHTS, Right, Role, Who, needed
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage


@pytest.mark.parametrize("intent", IntentKind)
def test_every_request_needs_a_right_that_operators_have_and_viewers_and_tenants_do_not(intent: IntentKind) -> None:
    right = needed(intent)
    assert Who("ada", Role.OPERATOR).may(right)
    assert not Who("screen", Role.VIEWER).may(right)
    assert not Who("portal", Role.TENANT, "Acme").may(right)
    assert Who("bob", Role.TECHNICIAN).may(right) is (intent in MENDING)


@pytest.mark.parametrize("stage", Stage)
def test_hands_run_what_looks_and_nothing_that_flashes_reboots_or_erases(stage: Stage) -> None:
    assert Who("bob", Role.TECHNICIAN).may(needed(IntentKind.RUN, stage)) is (stage in LOOKS)
    assert Who("ada", Role.OPERATOR).may(needed(IntentKind.RUN, stage))
    assert stage not in LOOKS or stage not in {Stage.WIPE, Stage.FIRMWARE, Stage.REBOOT, Stage.BURN_IN, Stage.RESET}


def test_a_tenant_sees_nothing_but_their_own_and_who_pushes_nothing_at_all() -> None:
    assert RIGHTS[Role.TENANT] == {Right.OWN}
    assert not RIGHTS[Role.INGEST]
    assert set(RIGHTS) == set(Role)
