"""fleet-runner web token: who may see and ask through pages and the API."""

import time
from dataclasses import replace
from typing import Annotated

import typer

from fleet_runner.cli.base.session import Exit, age, console, errors, opened, print_json, span, stamp, whoami
from fleet_runner.cli.faults.signals.tokens import NAME
from fleet_runner.core.access.roles import Role
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.faults.signals.tokens import INGEST, Token

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="who it is for: alice, wall-screen, prometheus")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@app.command()
def add(
    name: Name,
    *,
    role: Annotated[Role, typer.Option(help="operator, technician, viewer or tenant")],
    tenant: Annotated[str, typer.Option(help="whose nodes a tenant sees, as the source of truth names it")] = "",
    expires: Annotated[str, typer.Option(metavar="SPAN", help="ends after 12h, 30d or 52w; empty: never")] = "",
    json: Json = False,
) -> None:
    """Create a token and print it, this once: only its SHA-256 is stored."""
    from fleet_runner.services.http.admission import make  # noqa: PLC0415  other commands need no part of the server

    if not NAME.fullmatch(name):
        raise FleetError(f"{name!r} is not a valid token name; expected letters, digits, dots and dashes, at most 64")
    if role is Role.INGEST:
        raise FleetError("senders of signals need a token of fleet-runner signals token add, which opens no pages")
    if (role is Role.TENANT) is not bool(tenant):
        raise FleetError("a tenant's token, and no other, names the tenant: --role tenant --tenant NAME")
    now = time.time()
    until = now + span(expires) if expires else None
    made, digest = make()
    with opened(create=True) as (_, store):
        store.add_token(Token(name, digest, now, whoami(), scope=role.value, tenant=tenant, until=until))
    if json:
        print_json({"name": name, "role": role.value, "tenant": tenant, "token": made, "until": until})
    else:
        console.print(made, markup=False, soft_wrap=True)


@app.command("list")
def list_tokens(*, json: Json = False) -> None:
    """List tokens: for whom, which role, when last used. The tokens themselves are not stored."""
    now = time.time()
    with opened() as (_, store):
        found = [token for token in store.tokens() if token.scope != INGEST]
    if json:
        print_json([_plain(each, now) for each in found])
        return
    for each in found:
        console.print(f"{each.name}: {_words(each, now)}", markup=False, soft_wrap=True)
    if not found:
        console.print("no tokens; create one: fleet-runner web token add NAME --role viewer")


@app.command()
def rotate(
    name: Name,
    *,
    overlap: Annotated[str, typer.Option(metavar="SPAN", help="how long the old one stays valid")] = "1h",
    json: Json = False,
) -> None:
    """Replace a token by a new one of the same name and role; the old one stays valid for the overlap.

    One that was made to expire expires again, as long after today as it did after it was made.
    """
    from fleet_runner.services.http.admission import make  # noqa: PLC0415  other commands need no part of the server

    now = time.time()
    ends = now + span(overlap)
    with opened() as (_, store):
        good = [each for each in store.tokens() if each.name == name and not each.refusal(now)]
        if not good:
            raise FleetError(f"no token {name!r} is valid; see fleet-runner web token list")
        old = max(good, key=lambda each: each.id)
        if old.scope == INGEST:
            raise FleetError(
                f"{name} pushes signals; fleet-runner signals token revoke and add give it another token"
            )
        made, digest = make()
        until = now + (old.until - old.made_at) if old.until is not None else None
        new = replace(old, digest=digest, made_at=now, by=whoami(), until=until, used_at=None, id=0)
        store.rotate_token(new, ends)
    if json:
        print_json({"name": name, "role": new.scope, "token": made, "until": until, "old_until": ends})
        return
    console.print(made, markup=False, soft_wrap=True)
    errors.print(f"the old token of {name} is valid until {stamp(ends)} UTC at most", markup=False, soft_wrap=True)


@app.command()
def revoke(name: Name, *, json: Json = False) -> None:
    """Revoke a token and its sessions; it is refused one second later."""
    with opened() as (_, store):
        revoked = store.revoke_token(name, time.time())
    if json:
        print_json({"name": name, "revoked": revoked})
    elif revoked:
        console.print(f"{name} is revoked", markup=False)
    else:
        console.print(f"no token {name!r} is valid; see fleet-runner web token list", markup=False)
    if not revoked:
        raise typer.Exit(Exit.NO)


def _words(token: Token, now: float) -> str:
    role = f"{token.scope} of {token.tenant}" if token.tenant else token.scope
    used = f"used {age(now - token.used_at)} ago" if token.used_at is not None else "never used"
    ends = token.refusal(now) or (f"until {stamp(token.until)} UTC" if token.until is not None else "without end")
    return f"{role}; {ends}; made by {token.by}; {used}"


def _plain(token: Token, now: float) -> dict[str, object]:
    """Return what is shown of a token; its digest is nobody's business."""
    return {
        "name": token.name,
        "role": token.scope,
        "tenant": token.tenant,
        "made_at": token.made_at,
        "by": token.by,
        "until": token.until,
        "used_at": token.used_at,
        "ended": token.refusal(now),
    }
