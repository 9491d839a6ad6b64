"""What somebody is here, by what the provider that they log in with claims of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fleet_runner.core.access.roles import Role, Who

LONGEST = 64
"""Characters of a name, as of a token's."""

NAMES = ("preferred_username", "email", "sub")
"""Claims that say what somebody is called, the best first."""

RANK = (Role.OPERATOR, Role.TECHNICIAN, Role.VIEWER, Role.TENANT)
"""Who is several things is the first of them."""


class ClaimValue(NamedTuple):
    """A value of the claim, and what it makes of somebody."""

    value: str
    role: Role
    tenant: str = ""


def meanings(text: str) -> tuple[ClaimValue, ...]:
    """Return what "fleet-ops=operator, dc=technician, acme=tenant:Acme" says, or raise ValueError."""
    return tuple(_meaning(each.strip()) for each in text.split(",") if each.strip())


def judged(claims: Mapping[str, Any], claim: str, known: tuple[ClaimValue, ...]) -> Who | str:
    """Return who somebody is, or in a sentence why nobody who may see anything."""
    name = next((found for each in NAMES if (found := _name(claims.get(each)))), "")
    if not name:
        return "The provider does not say who you are."
    said = claims.get(claim)
    values = {said} if isinstance(said, str) else {each for each in _listed(said) if isinstance(each, str)}
    mine = sorted((each for each in known if each.value in values), key=lambda each: RANK.index(each.role))
    if not mine:
        return f"{name} has no role here; an operator of fleet-runner gives one to a group of yours (oidc_roles)."
    best = mine[0]
    if best.role is Role.TENANT and len({each.tenant for each in mine}) > 1:
        return f"{name} is of several tenants here, and one login shows the nodes of one."
    return Who(name, best.role, best.tenant)


def _listed(said: object) -> list[object]:
    return list(said) if isinstance(said, list) else []


def _name(said: object) -> str:
    """Return a name that can stand in a history, "" for anything else."""
    return said if isinstance(said, str) and said.isprintable() and said.strip() and len(said) <= LONGEST else ""


def _meaning(text: str) -> ClaimValue:
    value, _, word = (part.strip() for part in text.rpartition("="))
    role, _, tenant = (part.strip() for part in word.partition(":"))
    known = {each.value: each for each in RANK}
    if not value or role not in known or (known[role] is Role.TENANT) is not bool(tenant):
        raise ValueError(f"found {text!r}, expected a value and what it means: dc=technician, acme=tenant:Acme")
    return ClaimValue(value, known[role], tenant)
