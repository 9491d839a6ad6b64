"""fleet-runner signals token: who may push signals."""

import re
import time
from typing import Annotated

import typer

from fleet_runner.cli.base.session import Exit, age, console, opened, print_json, span, split, stamp, whoami
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.signals.tokens import Token

app = typer.Typer(no_args_is_help=True)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

Name = Annotated[str, typer.Argument(metavar="NAME", help="who it is for: vector, alertmanager, gpu-03-bmc")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@app.command()
def add(
    name: Name,
    *,
    source: Annotated[
        list[Source] | None, typer.Option(help="only signals of this source; several: once for each")
    ] = None,
    node: Annotated[
        list[str] | None, typer.Option(metavar="NODE", help="only about these nodes; globs like gpu-0* too")
    ] = None,
    expires: Annotated[str, typer.Option(metavar="SPAN", help="ends after 12h, 30d or 52w; empty: never")] = "",
) -> None:
    """Create a token and print it, this once: only its SHA-256 is stored."""
    from fleet_runner.services.http.admission import make  # noqa: PLC0415  other commands need no part of the listener

    if not NAME.fullmatch(name):
        raise FleetError(f"{name!r} is not a valid token name; expected letters, digits, dots and dashes, at most 64")
    now = time.time()
    until = now + span(expires) if expires else None
    made, digest = make()
    sources, nodes = tuple(source or ()), tuple(split(node or ()))
    token = Token(name, digest, now, whoami(), sources=sources, nodes=nodes, until=until)
    with opened(create=True) as (_, store):
        store.add_token(token)
    console.print(made, markup=False, soft_wrap=True)


@app.command("list")
def list_tokens(*, json: Json = False) -> None:
    """List tokens: for whom, for what, when last used. The tokens themselves are not stored."""
    now = time.time()
    with opened() as (_, store):
        found = store.tokens()
    if json:
        print_json([_plain(each, now) for each in found])
        return
    for each in found:
        console.print(f"{each.name}: {_words(each, now)}", markup=False, soft_wrap=True)
    if not found:
        console.print("no tokens; create one: fleet-runner signals token add NAME")


@app.command()
def revoke(name: Name) -> None:
    """Revoke a token; it is refused one second later."""
    with opened() as (_, store):
        if not store.revoke_token(name, time.time()):
            console.print(f"no token {name!r} is valid; see fleet-runner signals token list", markup=False)
            raise typer.Exit(Exit.NO)
    console.print(f"{name} is revoked")


def _words(token: Token, now: float) -> str:
    sources = ", ".join(token.sources) or "every source"
    nodes = ", ".join(token.nodes) or "every node"
    used = f"used {age(now - token.used_at)} ago" if token.used_at is not None else "never used"
    return f"{sources}; {nodes}; {_ends(token, now)}; made by {token.by}; {used}"


def _ends(token: Token, now: float) -> str:
    if token.refusal(now):
        return token.refusal(now)
    return f"until {stamp(token.until)} UTC" if token.until is not None else "without end"


def _plain(token: Token, now: float) -> dict[str, object]:
    """Return what is shown of a token; its digest is nobody's business."""
    return {
        "name": token.name,
        "scope": token.scope,
        "sources": list(token.sources),
        "nodes": list(token.nodes),
        "made_at": token.made_at,
        "by": token.by,
        "until": token.until,
        "used_at": token.used_at,
        "ended": token.refusal(now),
    }
