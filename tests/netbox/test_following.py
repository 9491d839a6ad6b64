"""A NetBox is followed by its change log: what was read in part is what would be read whole."""

from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import cache, changes, snapshots
from fleet_runner.adapters.netbox.changes import Mark, begin, go_on
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.source import Reader
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.settings import Settings
from tests.netbox import api
from tests.netbox.database import ProtectedError
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin, serving
from tests.netbox.test_reading import FLEET, QUICK, install
from tests.netbox.values import InvalidError
from tests.secret import private

ELSE = ("extras.exporttemplate", "dcim.interfacetemplate", "dcim.cabletermination")
"""What a token may see besides what has templates."""


@pytest.fixture
def site(standin: Standin) -> Standin:
    """A NetBox with a small fleet and our templates."""
    put(standin, FLEET)
    install(standin)
    return standin


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where it is kept."""
    return tmp_path / "cache" / "netbox.json"


def read(site: Standin, kept: Path | None = None, token: str = TOKEN) -> netbox.Snapshot:
    """Read it."""
    return netbox.snapshot(site.url, token, QUICK, kept)


def test_nothing_changed_is_one_request(site: Standin, kept: Path) -> None:
    first, second = read(site, kept), read(site, kept)
    assert (first.how, second.how, second.requests) == ("everything", "nothing changed", 1)
    assert second.rows == first.rows
    assert kept.stat().st_mode & 0o777 == 0o600


def somebody(site: Standin, random: Random) -> None:
    """Change something, as people do, anywhere."""
    lists = site.database.lists

    def one(path: str) -> int:
        return random.choice([*lists[path]])

    name = f"n{random.randrange(10**6)}"
    device = {"device_type": 1, "role": one("dcim/device-roles"), "site": one("dcim/sites"), "name": name}
    port = {"assigned_object_type": "dcim.interface", "assigned_object_id": one("dcim/interfaces")}
    ends = [[{"object_type": "dcim.interface", "object_id": one("dcim/interfaces")}] for _ in "ab"]
    deeds: list[tuple[str, str, dict[str, Any]]] = [
        *(
            ("edit", path, {"name": name})
            for path in ("dcim/sites", "dcim/racks", "dcim/locations", "dcim/devices", "dcim/interfaces")
        ),
        *(
            ("edit", path, {"name": name})
            for path in ("dcim/manufacturers", "tenancy/tenants", "dcim/module-bays", "dcim/inventory-items")
        ),
        *(("edit", path, {"slug": name}) for path in ("dcim/device-roles", "dcim/inventory-item-roles")),
        ("edit", "dcim/device-types", {"slug": name}),
        ("edit", "dcim/module-types", {"model": name}),
        ("edit", "dcim/cables", {"label": name, "status": random.choice(["planned", "connected"])}),
        ("edit", "dcim/devices", {"local_context_data": {name: 1}, "oob_ip": None}),
        ("edit", "ipam/ip-addresses", {"address": f"192.0.2.{random.randrange(1, 255)}/24"}),
        ("add", "dcim/interfaces", {"device": one("dcim/devices"), "name": name, "type": "1000base-t"}),
        ("add", "dcim/interface-templates", {"device_type": 1, "name": name, "type": "1000base-t"}),
        ("add", "dcim/devices", device),
        ("add", "dcim/mac-addresses", {"mac_address": "02:00:00:00:00:0a", **port}),
        ("add", "dcim/cables", {"a_terminations": ends[0], "b_terminations": ends[1]}),
        ("add", "extras/config-contexts", {"name": name, "data": {name: {"a": 1}}, "sites": [one("dcim/sites")]}),
        *(("remove", path, {}) for path in ("dcim/devices", "dcim/interfaces", "dcim/cables", "ipam/ip-addresses")),
        *(("remove", path, {}) for path in ("dcim/inventory-items", "dcim/modules", "dcim/mac-addresses")),
    ]
    verb, path, values = random.choice(deeds)
    if verb == "add":
        site.add(path, **values)
    elif lists[path]:
        number = one(path)
        if verb == "edit":
            site.edit(path, number, **values)
        elif len(lists[path]) > 1:
            site.remove(path, number)


@given(seed=st.integers(0, 2**32), rounds=st.lists(st.integers(1, 4), min_size=1, max_size=5))
@settings(max_examples=6, deadline=None)
def test_what_is_read_in_part_is_what_is_read_whole(seed: int, rounds: list[int]) -> None:
    """Whatever people did in between; a deed that NetBox refuses is none."""
    random = Random(seed)
    with serving() as site, TemporaryDirectory() as folder:
        put(site, FLEET)
        install(site)
        kept = Path(folder) / "netbox.json"
        read(site, kept)
        for deeds in rounds:
            for _ in range(deeds):
                with suppress(IndexError, InvalidError, ProtectedError):
                    somebody(site, random)
            followed, whole = read(site, kept), read(site)
            assert followed.rows == whole.rows, followed.how
            assert followed.how != "everything"
            found = cache.load(kept, followed.of)
            assert found is not None
            assert (found.rows, found.mark, found.sum) == (followed.rows, followed.mark, followed.sum)
            assert same(made(followed), made(whole))
            assert same(made(read(site, kept)), made(whole))


def same(one: Any, other: Any) -> bool:
    """Whether two are alike in their types, too: a word equals the one of a list of words, and is not it."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(each, other[key]) for key, each in one.items())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one):
        return all(same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)


def made(found: netbox.Snapshot) -> Fleet | str:
    """The fleet of it, or why there is none."""
    try:
        return netbox.fleet(found, "http://netbox")
    except SourceError as error:
        return str(error)


def change(number: int, name: str = "one") -> dict[str, Any]:
    """A line of the change log."""
    action = {"value": "update"}
    told = {"time": "2026-01-01T00:00:00Z", "request_id": name, "action": action}
    return {"id": number, "changed_object_type": "dcim.device", "changed_object_id": 1, **told}


def ids(found: tuple[list[dict[str, Any]], Mark] | None) -> list[int]:
    """Which changes are gone on with."""
    assert found is not None
    return [each["id"] for each in found[0]]


def test_a_change_that_is_seen_late_is_not_lost() -> None:
    """Its number is taken when it is made, and it is seen when its transaction is done."""
    mark = begin([change(5)], 0.0)
    found = go_on(mark, [change(5), change(7)], 10.0)
    assert ids(found) == [7]
    assert found is not None
    late = go_on(found[1], [change(number) for number in (6, 7)], 20.0)
    assert ids(late) == [6]
    assert late is not None
    assert late[1].first == 7
    given_up = go_on(found[1], [change(7)], 10.0 + changes.OPEN_SECONDS)
    assert given_up is not None
    assert given_up[1].first == 7


@pytest.mark.parametrize(
    "log",
    [
        [],
        [change(6)],
        [change(5, "another")],
        [change(5), change(5 + changes.OPEN_MOST)],
        [change(number) for number in range(6, 6 + changes.MOST)],
    ],
)
def test_a_log_that_does_not_join_up_means_everything(log: list[dict[str, Any]]) -> None:
    """It was pruned, the database is another one, or there are too many changes."""
    assert go_on(begin([change(4), change(5)], 0.0), log, 1.0) is None


def test_an_empty_log_is_followed() -> None:
    """As that of a NetBox that was filled by its shell."""
    mark = begin([], 0.0)
    assert go_on(mark, [], 1.0) == ([], mark)
    assert ids(go_on(mark, [change(900)], 1.0)) == [900]


def test_everything_is_read_again_each_day(site: Standin, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is changed past the log; likewise after another one was restored."""
    read(site, kept)
    monkeypatch.setattr(snapshots, "WHOLE_SECONDS", 0.0)
    assert read(site, kept).how == "everything"
    monkeypatch.undo()
    site.database.lists["core/object-changes"].clear()
    assert read(site, kept).how == "everything"


def narrowed(site: Standin, *, log: bool = True) -> tuple[str, int]:
    """A token that sees every device, and its permission to see them."""
    more = ("core.objectchange",) if log else ()
    token = site.token_of("reader", dict.fromkeys((*netbox.TEMPLATES, *ELSE, *more), ("view",)))
    [right] = [each for each in site.rows("users/permissions") if each["object_types"] == ["dcim.device"]]
    return token, int(right["id"])


@pytest.mark.parametrize("touched", [None, "serial"])
def test_devices_that_a_token_may_see_no_more_are_no_smaller_fleet(
    site: Standin, kept: Path, monkeypatch: pytest.MonkeyPatch, touched: str | None
) -> None:
    """NetBox logs no change of permissions; it is found when everything is read, or one of them was changed."""
    token, right = narrowed(site)
    first = read(site, kept, token)
    site.edit("users/permissions", right, constraints={"name": "none"})
    if touched:
        site.edit("dcim/devices", 1, serial="NEW")
    else:
        monkeypatch.setattr(snapshots, "WHOLE_SECONDS", 0.0)
    with pytest.raises(SourceError, match=r"no longer shows 2 devices \(first: .*dcim\.view_device for them again"):
        netbox.snapshot(site.url, token, QUICK, kept, first)
    kept.unlink()
    assert netbox.snapshot(site.url, token, QUICK, kept, first).rows.devices == {}


def test_a_device_that_moved_out_of_a_tokens_sight_is_away(site: Standin, kept: Path) -> None:
    """Its change is in the log; the others stay."""
    token, right = narrowed(site)
    site.edit("users/permissions", right, constraints={"status": "active"})
    read(site, kept, token)
    site.edit("dcim/devices", 1, status="offline")
    for how in ("everything", "nothing changed"):
        found = read(site, kept, token)
        assert (set(found.rows.devices), found.how) == ({2}, how)


def test_without_the_log_an_empty_fleet_is_refused(site: Standin, kept: Path) -> None:
    """Of a runner that has seen another; who starts with an empty NetBox has an empty fleet."""
    token, right = narrowed(site, log=False)
    first = read(site, kept, token)
    site.edit("users/permissions", right, constraints={"name": "none"})
    with pytest.raises(SourceError, match="no longer shows 2 devices"):
        netbox.snapshot(site.url, token, QUICK, kept, first)
    assert read(site, kept, token).rows.devices == {}


def test_a_restored_netbox_may_have_fewer_devices(site: Standin, kept: Path) -> None:
    read(site, kept)
    log, devices = site.database.lists["core/object-changes"], site.database.lists["dcim/devices"]
    del log[max(log)]
    site.database.lists["dcim/cables"].clear()
    del devices[max(devices)]
    assert set(read(site, kept).rows.devices) == {1}


def test_a_runner_reads_everything_again_when_its_kept_file_is_deleted(site: Standin, kept: Path) -> None:
    """As its owner is told to do after a change past the log."""
    first = read(site, kept)
    assert netbox.snapshot(site.url, TOKEN, QUICK, kept, first).how == "nothing changed"
    kept.unlink()
    again = netbox.snapshot(site.url, TOKEN, QUICK, kept, first)
    assert again.how == "everything"
    assert kept.exists()


def test_a_log_that_comes_in_short_pages_is_read_whole(site: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a NetBox whose MAX_PAGE_SIZE is small."""
    monkeypatch.setattr(api, "MAX_PAGE", 7)
    with Client(site.url, TOKEN, QUICK) as client:
        found = [row["id"] for row in client.newest(changes.PATH, "id", 30)]
    newest = site.database.numbers["core/object-changes"]
    assert found == [*range(newest, newest - 30, -1)]


def test_a_token_that_may_not_see_the_log_reads_everything_and_is_told(site: Standin, kept: Path) -> None:
    token = site.token_of("reader", dict.fromkeys((*netbox.TEMPLATES, *ELSE), ("view",)))
    for _ in range(2):
        found = read(site, kept, token)
        assert found.how == "everything"
        [note] = found.notes
        assert "give its user the permission core.view_objectchange" in note
    assert netbox.fleet(found, site.url).notes == found.notes
    assert not kept.exists()


def spoilt(kept: Path, how: str) -> None:
    """Spoil a kept file."""
    text = kept.read_bytes()
    match how:
        case "cut off":
            kept.write_bytes(text[: len(text) // 2])
        case "another form":
            kept.write_bytes(text.replace(cache.FORM.encode(), b"0" * 64, 1))
        case "no JSON":
            kept.write_bytes(b"[" * 100_000)
        case "open to others":
            kept.chmod(0o644)
        case "a link":
            kept.rename(kept.with_suffix(".old"))
            kept.symlink_to(kept.with_suffix(".old"))
        case _:
            kept.unlink()
            kept.mkdir()


@pytest.mark.parametrize("how", ["cut off", "another form", "no JSON", "open to others", "a link", "a folder"])
def test_a_kept_file_that_cannot_be_used_is_read_past_with_a_word(site: Standin, kept: Path, how: str) -> None:
    whole = read(site, kept)
    spoilt(kept, how)
    with structlog.testing.capture_logs() as said:
        found = read(site, kept)
    assert (found.rows, found.how) == (whole.rows, "everything")
    assert said[0]["event"] == "the copy of NetBox is not used; everything is read again"
    assert kept.is_dir() or read(site, kept).how == "nothing changed"


def test_what_is_kept_is_for_the_same_token_and_holds_none(site: Standin, kept: Path) -> None:
    read(site, kept)
    assert TOKEN.encode() not in kept.read_bytes()
    other = site.token_of("other", dict.fromkeys((*netbox.TEMPLATES, *ELSE, "core.objectchange"), ("view",)))
    assert read(site, kept, other).how == "everything"
    assert read(site, kept, other).how == "nothing changed"
    assert read(site, kept).how == "everything"


def test_who_waits_for_another_process_uses_what_it_read(site: Standin, kept: Path) -> None:
    """And one that waits too long reads by itself."""
    with cache.locked(kept), pytest.MonkeyPatch.context() as patch, structlog.testing.capture_logs() as said:
        patch.setattr(cache, "LOCK_SECONDS", 0.1)
        assert read(site, kept).how == "everything"
    assert said[0]["event"] == "another process takes long to read NetBox; it is read here, too"
    assert read(site, kept).how == "nothing changed"


def test_a_runner_that_knows_the_fleet_waits_for_no_other_process(site: Standin, kept: Path) -> None:
    """Somebody may have stopped that one in the middle of its reading."""
    first = read(site, kept)
    with cache.locked(kept), pytest.MonkeyPatch.context() as patch, structlog.testing.capture_logs() as said:
        patch.setattr("time.sleep", lambda _: pytest.fail("it waits"))
        assert netbox.snapshot(site.url, TOKEN, QUICK, kept, first).how == "nothing changed"
    assert said == []


def test_the_runner_makes_no_second_fleet_of_what_nobody_changed(site: Standin, tmp_path: Path) -> None:
    """One request a time; what contradicts itself is left out until it is corrected."""
    private(tmp_path / "token", TOKEN)
    reader = Reader(Settings(source=site.url, netbox_token_file=tmp_path / "token", state_dir=tmp_path))
    first = reader()
    before = len(site.asked)
    assert reader() is first
    assert len(site.asked) == before + 1
    site.edit("dcim/devices", 1, custom_fields={"fleet_management": None}, name="all")
    for _ in range(2):
        assert "cannot be an Ansible host" in reader().unread["all"]
    site.edit("dcim/devices", 1, name="gpu-1")
    assert reader().devices == first.devices


def test_what_is_made_while_lists_are_read_is_read_as_well(site: Standin, kept: Path) -> None:
    """An interface after its list, and the cable to it before that one."""

    def somebody_cables(answer: Any) -> Any:
        if "dcim/interfaces" in site.asked[-1] and len(site.database.lists["dcim/cables"]) == 1:
            new = [site.add("dcim/interfaces", device=1, name=name, type="1000base-t") for name in ("new", "other")]
            a, b = ([{"object_type": "dcim.interface", "object_id": number}] for number in new)
            site.add("dcim/cables", a_terminations=a, b_terminations=b)
        return answer

    site.change = somebody_cables
    found = netbox.load(site.url, TOKEN, QUICK, kept)
    assert [str(cable.b) for cable in found.cables if cable.a.interface == "new"] == ["gpu-1 other"]
