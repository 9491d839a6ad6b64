"""fleet-runner web session: who has logged in, and who is logged out."""

import time

import typer

from fleet_runner.cli.base.session import Exit, age, console, opened, print_json, stamp
from fleet_runner.cli.web.tokens import Json, Name
from fleet_runner.core.access.roles import Session

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_sessions(*, json: Json = False) -> None:
    """List browser sessions, and until when each is valid."""
    now = time.time()
    with opened() as (_, store):
        found = store.sessions(now)
    if json:
        print_json([_plain(each) for each in found])
        return
    for each in found:
        role = f"{each.who.role.value} of {each.who.tenant}" if each.who.tenant else each.who.role.value
        how = "with a token" if each.token else "with OpenID Connect"
        said = f"{role}; logged in {how} {age(now - each.made_at)} ago; until {stamp(each.until)} UTC"
        console.print(f"{each.who.name}: {said}", markup=False, soft_wrap=True)
    if not found:
        console.print("nobody has logged in")


@app.command()
def end(name: Name, *, json: Json = False) -> None:
    """End all browser sessions of a person. With a valid token they can log in again."""
    with opened() as (_, store):
        ended = store.end_sessions(name)
    if json:
        print_json({"name": name, "ended": ended})
    else:
        console.print(f"{name}: {ended} sessions ended", markup=False, soft_wrap=True)
    if not ended:
        raise typer.Exit(Exit.NO)


def _plain(session: Session) -> dict[str, object]:
    """Return what is shown of a session; its digest is nobody's business."""
    who = session.who
    return {
        "name": who.name,
        "role": who.role.value,
        "tenant": who.tenant,
        "with_token": bool(session.token),
        "made_at": session.made_at,
        "until": session.until,
    }
