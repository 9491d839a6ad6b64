"""netbox init where somebody else was before, where the token may not, and where NetBox does not answer."""

import json
from pathlib import Path

import pytest

from fleet_runner.adapters.files import new_secret
from fleet_runner.adapters.netbox import tokens
from fleet_runner.adapters.netbox.client import Client, Timeouts
from fleet_runner.core.base.errors import SettingsError, SourceError
from tests.netbox.standin import Standin
from tests.netbox.test_init import MORE, Place, place
from tests.secret import private

__all__ = ["place"]

SHOW = {
    f"{app}.{model}": ("view",)
    for app, model in (("extras", "customfield"), ("extras", "customfieldchoiceset"), ("extras", "tag"))
}


def test_what_somebody_else_made_is_said_and_stays_as_it_is(place: Place) -> None:
    """The rest is made, and the command ends with 1."""
    field = place.standin.add("extras/custom-fields", name="fleet_state", object_types=["dcim.device"], type="text")
    hook = place.standin.add("extras/webhooks", name="fleet-runner", payload_url="https://elsewhere.example")
    before = place.standin.row("extras/custom-fields", id=field), place.standin.row("extras/webhooks", id=hook)
    said = place.init(**MORE)
    assert said.code == 1
    assert "differs custom field fleet_state\n        type: found text, expected select" in said.out
    assert "waits   event rule fleet-runner wishes\n        needs webhook fleet-runner first" in said.out
    assert before == (
        place.standin.row("extras/custom-fields", id=field),
        place.standin.row("extras/webhooks", id=hook),
    )
    assert not place.standin.rows("extras/event-rules")
    assert place.standin.row("extras/custom-fields", name="fleet_wish")
    assert place.init("--check", **MORE).code == 1


def test_a_field_and_a_tag_of_the_sites_own_are_used(place: Place) -> None:
    """Whoever has looked after nodes by hand before has fleet_management already."""
    choices = [["full", "Full"], ["customer", "Theirs"], ["none", "None"]]
    own = place.standin.add("extras/custom-field-choice-sets", name="mgmt", extra_choices=choices)
    place.standin.add(
        "extras/custom-fields", name="fleet_management", object_types=["dcim.device"], type="select", choice_set=own
    )
    place.standin.add("extras/tags", name="Fleet", slug="fleet-runner")
    said = place.init()
    assert (said.code, said.err) == (0, "")
    names = {row["name"] for row in place.standin.rows("extras/custom-field-choice-sets")}
    assert names == {"mgmt", "fleet-runner states", "fleet-runner wishes"}


def test_a_user_that_somebody_else_made_is_given_no_rights(place: Place) -> None:
    place.standin.user("fleet-runner")
    said = place.init()
    assert said.code == 1
    assert "differs user fleet-runner" in said.out
    assert place.standin.rows("users/permissions") == []
    assert len(place.standin.rows("users/tokens")) == 1
    assert not (place.folder / "own.token").exists()


def test_each_missing_permission_is_named_at_once(place: Place) -> None:
    """And what the token may is done all the same."""
    token = place.standin.token_of("maria", SHOW | {"extras.tag": ("view", "add")})
    said = place.init(token=token)
    assert said.code == 1
    assert "made    tag fleet-runner" in said.out
    told = " ".join(said.out.split())
    advice = told[told.index("give the token's user") :]
    for name in (
        "extras.add_customfield",
        "extras.add_customfieldchoiceset",
        "extras.view_exporttemplate",
        "extras.add_exporttemplate",
        "users.add_user",
        "users.add_objectpermission",
        "users.grant_token",
    ):
        assert f"{name}," in advice, name
    assert "extras.add_tag" not in advice
    assert "extras.view_customfield," not in advice


def test_with_what_was_advised_it_works(place: Place) -> None:
    """No permission is named one at a time."""
    token = place.standin.token_of("maria", SHOW)
    steps = json.loads(place.init("--check", "--json", token=token, **MORE).out)["steps"]
    lacks = {each for step in steps for each in step["lacks"]}
    may: dict[str, set[str]] = {}
    for each in lacks | {"users.add_token", "users.view_token"}:
        app, _, name = each.partition(".")
        action, _, model = name.partition("_")
        may.setdefault(f"{app}.{model}", set()).add(action)
    place.standin.token_of("maria", {kind: tuple(actions) for kind, actions in may.items()})
    said = place.init(token=token, **MORE)
    assert (said.code, said.err) == (0, "")


def test_a_wrong_token_is_said_and_not_shown(place: Place) -> None:
    said = place.init(token="wrong-token")
    assert said.code == 3
    assert "NetBox does not accept the token (HTTP 403); put a valid one into its file" in said.err
    assert "wrong-token" not in said.err


def test_a_token_of_its_own_that_is_taken_no_more_is_said(place: Place) -> None:
    """NetBox's administrator may have revoked it."""
    place.init()
    private(place.folder / "own.token", "revoked")
    said = place.init()
    assert said.code == 0
    assert "own.token; move the file away and run this again" in said.err


def test_what_netbox_drops_of_what_was_sent_is_said(place: Place) -> None:
    place.init(netbox_write_nodes="true")
    place.standin.change = lambda answer: [] if answer and isinstance(answer, list) else answer
    said = place.init(netbox_write_nodes="false")
    assert said.code == 1
    assert "permission fleet-runner writes nodes: NetBox no longer finds it" in said.err
    place.standin.change = lambda answer: (
        [{"id": 1, "enabled": True}] if answer and isinstance(answer, list) and "enabled" in answer[0] else answer
    )
    said = place.init(netbox_write_nodes="true")
    assert said.code == 0
    said = place.init(netbox_write_nodes="false")
    assert "writes nodes: NetBox accepted it and stored other values for enabled; check its page" in said.err


@pytest.mark.parametrize("spoil", [[{"id": 1}], [{"name": "fleet-runner states", "extra_choices": 7}], [None]])
def test_what_is_no_netboxs_object_is_said(place: Place, spoil: list[object]) -> None:
    """A proxy, or a plugin, may answer in its place."""
    place.standin.change = lambda answer: answer | {"results": spoil, "count": 1} if "results" in answer else answer
    said = place.init("--check")
    assert said.code == 3
    assert "of NetBox 4" in said.err
    assert "Traceback" not in said.err


def test_a_netbox_that_gives_up_on_the_way_is_gone_on_with_later(place: Place) -> None:
    """What is done stays, and nothing is made twice."""
    place.standin.fail("^POST /api/users/users/", times=1, dropped=True)
    said = place.init()
    assert said.code == 3
    assert place.standin.row("extras/custom-fields", name="fleet_wish")
    assert not (place.folder / "own.token").exists()
    assert place.init().code == 0
    assert len(place.standin.rows("users/users")) == 2


def test_what_netbox_refuses_is_said_and_the_rest_done(place: Place) -> None:
    """And what needs it is not tried."""
    body = json.dumps([{"username": ["This name is reserved."]}]).encode()
    place.standin.fail("^POST /api/users/users/", times=1, status=400, body=body)
    said = place.init()
    assert said.code == 1
    assert "user fleet-runner: NetBox refuses the change (HTTP 400" in said.err
    assert "permission fleet-runner reads: it needs fleet-runner, which was not created" in said.err
    assert place.standin.row("extras/custom-fields", name="fleet_wish")
    assert not (place.folder / "own.token").exists()


def test_a_folder_of_site_files_is_no_netbox(place: Place) -> None:
    said = place.init(source="site")
    assert said.code == 2
    assert "name a NetBox with --url" in said.err


@pytest.mark.parametrize("version", ["4.7.3", "4.6.8", "4.5.0"])
def test_a_token_is_what_the_netbox_says_that_it_is(standin: Standin, version: str) -> None:
    """From 4.7 on NetBox makes the secret itself, whatever it was sent."""
    with Client(standin.url, standin.token, Timeouts()) as client:
        made = tokens.make(client, version, {"user": standin.user("robot"), "write_enabled": False})
    key = standin.row("users/tokens", user=standin.user("robot"))["key"]
    assert made.startswith(f"nbt_{key}.")
    assert not {"token", "key"} & standin.changes[-1].body[0].keys()
    with Client(standin.url, made, Timeouts()) as client:
        assert client.version() == standin.version


def test_a_netbox_before_version_two_is_sent_the_secret(standin: Standin) -> None:
    """It has no other kind, and shows a token to nobody where ALLOW_TOKEN_RETRIEVAL is off."""
    standin.known.append("key")
    standin.fail("^GET /api/status/", status=200, body=b'{"netbox-version": "4.4.10"}')
    with Client(standin.url, standin.token, Timeouts()) as client:
        made = tokens.make(client, "4.4.10", {"user": standin.user("robot"), "write_enabled": False})
    assert standin.changes[-1].body[0]["key"] == made


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"id": 7, "key": "k" * 12, "version": 2, "token": "s" * 40}, "does not accept it"),
        ({"id": 7, "key": None, "version": 1, "token": "s" * 40}, "does not accept it"),
        ({"id": 7, "key": "k" * 12, "version": 2, "token": None}, "did not return it"),
        ({"id": 7}, "did not return it"),
    ],
)
def test_a_token_that_does_not_work_is_in_no_file(place: Place, answer: dict[str, object], words: str) -> None:
    """What is left to be done is said, and the token is in no message."""
    place.standin.fail("^POST /api/users/tokens/", status=201, body=json.dumps([answer]).encode())
    said = place.init()
    assert said.code == 1
    text = " ".join(said.err.split())
    assert words in text
    assert "/users/tokens/7/, and run this again" in text
    assert "s" * 40 not in said.out + said.err
    assert not (place.folder / "own.token").exists()


def test_a_token_that_was_made_was_used_as_well(place: Place) -> None:
    assert "own.token; tried once, and NetBox accepts it" in " ".join(place.init().out.split())
    asked = place.standin.asked
    made = next(at for at, each in enumerate(asked) if each.startswith("POST /api/users/tokens/"))
    assert asked[made + 1].startswith("GET /api/status/")


def test_a_netbox_without_peppers_makes_a_token_of_the_first_kind(standin: Standin) -> None:
    body = b'[{"__all__": ["Unable to save v2 tokens: API_TOKEN_PEPPERS is not defined."]}]'
    standin.fail("^POST /api/users/tokens/", times=1, status=400, body=body)
    with Client(standin.url, standin.token, Timeouts()) as client:
        made = tokens.make(client, "4.6.8", {"user": standin.user("robot"), "write_enabled": False})
    assert not made.startswith("nbt_")
    with Client(standin.url, made, Timeouts()) as client:
        assert client.version() == standin.version


def test_who_may_make_no_token_for_others_is_told_what_it_takes(standin: Standin) -> None:
    standin.fail("^POST /api/users/tokens/", times=1, status=403)
    with (
        Client(standin.url, standin.token, Timeouts()) as client,
        pytest.raises(SourceError, match=r"users\.add_token and users\.grant_token"),
    ):
        tokens.make(client, "4.6.8", {"user": standin.user("robot"), "write_enabled": False})


def test_a_version_that_is_none_is_said(standin: Standin) -> None:
    with (
        Client(standin.url, standin.token, Timeouts()) as client,
        pytest.raises(SourceError, match="expected one such as"),
    ):
        tokens.make(client, "new", {"user": 1, "write_enabled": False})


def test_a_secret_is_in_its_file_whole_or_there_is_none(tmp_path: Path) -> None:
    """And none takes another's place."""
    file = tmp_path / "new" / "secret"
    with pytest.raises(SourceError), new_secret.kept(file):
        raise SourceError("it was not made")
    with new_secret.kept(file):
        pass
    assert list(file.parent.iterdir()) == []
    with new_secret.kept(file) as keep:
        keep("secret")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("secret\n", 0o600)
    with pytest.raises(SettingsError, match="there already"), new_secret.kept(file):
        pass
    with pytest.raises(SettingsError, match="name a file in a folder"), new_secret.kept(file / "below"):
        pass
    assert list(file.parent.iterdir()) == [file]
