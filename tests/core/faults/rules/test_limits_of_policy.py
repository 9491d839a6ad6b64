"""The sections `budget` and `breaker` of a policy."""

import pytest

from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.faults.rules.policy import PolicyError, read


def where(_path: object) -> str:
    """A place."""
    return "policy.yml:1"


def test_a_policy_may_say_how_much_may_be_out() -> None:
    """What it leaves out the settings say."""
    assert read({}, where).budget == {}
    assert read({}, where).breaker == Limits()
    found = read({"budget": {"rack": 2, "domain": 0.5}, "breaker": {"share": 0.3, "pause": "10min"}}, where)
    assert found.budget == {"rack": 2, "domain": 0.5}
    assert found.breaker == Limits(share=0.3, pause=600.0)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"budget": {"share": 0}}, "budget.share: found 0, expected a share above 0 and at most 1"),
        ({"budget": {"share": True}}, "budget.share: found True"),
        ({"budget": {"rack": 0}}, "budget.rack: found 0"),
        ({"budget": {"domian": 0.5}}, "budget.domian: found the key 'domian', expected 'domain'"),
        ({"breaker": {"same": 7}}, "breaker.same: found 7, expected a share"),
        ({"breaker": {"pause": "soon"}}, "breaker.pause: found 'soon'"),
        ({"breaker": {"shares": 1}}, "breaker.shares: found the key 'shares', expected 'share'"),
        ({"breaker": []}, "breaker: found [], expected a mapping"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_told(policy: dict[str, object], told: str) -> None:
    """With its field."""
    with pytest.raises(PolicyError) as refused:
        read(policy, where)
    assert told in str(refused.value)
