"""What `netbox init` makes in a NetBox that others hold, and what it leaves alone."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.netbox.live.conftest import Prepared, Said
from tests.netbox.live.place import Place

Run = Callable[..., Said]


def test_what_is_missing_is_made_and_a_second_run_finds_nothing(complete: Prepared) -> None:
    """The plan says what is done, all of it is done, and then there is nothing left to do."""
    assert complete.made.code == 0, complete.made.err
    assert {step["act"] for step in complete.check.json["steps"]} <= {"make", "keep"}
    assert (complete.again.code, complete.acts) == (0, {"keep"})


def test_its_own_token_may_do_what_the_settings_ask_and_no_more(place: Place, complete: Prepared) -> None:
    """It is in a file for its owner alone, reads the fleet, and may not add a device."""
    if not any(step["kind"] == "users.token" and step["act"] == "make" for step in complete.check.json["steps"]):
        pytest.skip("this NetBox has a token for fleet-runner already; whoever has it can try it")
    assert stat.S_IMODE(complete.token_file.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR
    own = Place(place.url, complete.token_file.read_text("utf-8").strip())
    assert own.ask("GET", "dcim/devices", params={"limit": 1})["count"] == place.count("dcim/devices")
    with pytest.raises(AssertionError, match="HTTP 403"):
        own.make("dcim/sites", name=f"{place.prefix}never", slug=f"{place.prefix}never")


def test_check_writes_nothing(place: Place, complete: Prepared, token_file: Path, run: Run, tmp_path: Path) -> None:
    """NetBox's change log has no line more, and there is no token's file."""
    mark, out = place.last_change(), tmp_path / "own"
    said = run("netbox", "init", "--check", "--token-file", str(token_file), "--token-out", str(out))
    assert said.code == 1, said.words
    assert place.changes_since(mark) == []
    assert not out.exists()


def test_a_token_without_rights_is_told_which(place: Place, complete: Prepared, run: Run) -> None:
    """Fleet-runner's own token may not make anything: what it lacks is named, and nothing is written."""
    mark = place.last_change()
    said = run("netbox", "init", "--token-file", str(complete.token_file), web_url="https://fleet.example")
    assert place.changes_since(mark) == []
    assert said.code != 0
    assert "permission" in said.words or "extras.add_customlink" in said.words
