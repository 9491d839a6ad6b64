"""Whom a provider's claims make of somebody, also where they are of types that nobody expects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.access.claims import ClaimValue, judged, meanings
from fleet_runner.core.access.roles import Role, Who

KNOWN = meanings("fleet-ops=operator, dc = technician,wall=viewer, acme=tenant:Acme, cn=x=tenant:Globex Ltd,")

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=8,
)


def test_what_values_mean_is_read() -> None:
    assert (
        ClaimValue("fleet-ops", Role.OPERATOR),
        ClaimValue("dc", Role.TECHNICIAN),
        ClaimValue("wall", Role.VIEWER),
        ClaimValue("acme", Role.TENANT, "Acme"),
        ClaimValue("cn=x", Role.TENANT, "Globex Ltd"),
    ) == KNOWN
    assert meanings("") == ()


@pytest.mark.parametrize(
    "text", ["operator", "=operator", "a=king", "a=ingest", "a=tenant", "a=tenant:", "a=viewer:Acme"]
)
def test_what_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a value and what it means"):
        meanings(f"dc=technician, {text}")


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"sub": "1", "groups": ["dc"]}, Who("1", Role.TECHNICIAN)),
        ({"sub": "1", "email": "a@b.example", "groups": "acme"}, Who("a@b.example", Role.TENANT, "Acme")),
        ({"sub": "1", "preferred_username": "ann", "groups": ["wall", "fleet-ops"]}, Who("ann", Role.OPERATOR)),
        ({"sub": "1", "groups": ["acme", "wall"]}, Who("1", Role.VIEWER)),
        ({"sub": "1", "preferred_username": "a\nb", "groups": ["dc", {}, None, 7]}, Who("1", Role.TECHNICIAN)),
    ],
)
def test_somebody_is_the_most_that_they_may_be(claims: dict[str, object], expected: Who) -> None:
    assert judged(claims, "groups", KNOWN) == expected


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({}, "does not say who"),
        ({"sub": "x" * 65, "groups": ["dc"]}, "does not say who"),
        ({"sub": 7, "email": ["a"], "preferred_username": " ", "groups": ["dc"]}, "does not say who"),
        ({"sub": "1"}, "has no role"),
        ({"sub": "1", "groups": {"dc": True}}, "has no role"),
        ({"sub": "1", "groups": ["DC", "dc "]}, "has no role"),
        ({"sub": "1", "groups": ["acme", "cn=x"]}, "several tenants"),
    ],
)
def test_who_may_see_nothing_is_told_why(claims: dict[str, object], said: str) -> None:
    found = judged(claims, "groups", KNOWN)
    assert isinstance(found, str)
    assert said in found


@given(st.dictionaries(st.sampled_from(["sub", "email", "preferred_username", "groups"]), json))
def test_claims_of_any_type_make_somebody_of_what_is_known_or_a_sentence(claims: dict[str, object]) -> None:
    found = judged(claims, "groups", KNOWN)
    assert isinstance(found, str) or (found.role, found.tenant) in {(each.role, each.tenant) for each in KNOWN}
