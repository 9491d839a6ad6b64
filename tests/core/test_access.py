"""Who may do what."""

import pytest

from fleet_runner.core.access import MENDING, RIGHTS, Right, Role, Who, needed
from fleet_runner.core.runs import Wish


@pytest.mark.parametrize("wish", Wish)
def test_every_wish_needs_a_right_that_operators_have_and_viewers_and_tenants_do_not(wish: Wish) -> None:
    right = needed(wish)
    assert Who("ada", Role.OPERATOR).may(right)
    assert not Who("screen", Role.VIEWER).may(right)
    assert not Who("portal", Role.TENANT, "Acme").may(right)
    assert Who("bob", Role.TECHNICIAN).may(right) is (wish in MENDING)


def test_a_tenant_sees_nothing_but_their_own_and_who_pushes_nothing_at_all() -> None:
    assert RIGHTS[Role.TENANT] == {Right.OWN}
    assert not RIGHTS[Role.INGEST]
    assert set(RIGHTS) == set(Role)
