"""What is wanted of a NetBox for what the settings ask, and what a token may do of it."""

from typing import Any

import pytest

from fleet_runner.core.inventory.netbox import custom_fields
from fleet_runner.core.inventory.netbox.init import account, pages, report
from fleet_runner.core.inventory.netbox.init.account import Writes, needed, unfit
from fleet_runner.core.inventory.netbox.init.objects import ABOUT, MARK, Kind, RequiredObject
from fleet_runner.core.inventory.netbox.init.plan import Act, plan
from fleet_runner.core.inventory.netbox.init.rights import GRANT, missing, permission, within
from fleet_runner.core.inventory.netbox.init.wanted import InitOptions, wanted

NOTHING = InitOptions("password", Writes())
ALL = InitOptions(
    "password",
    Writes(cables=True, nodes=True, intents=True),
    token="own.token",
    web_url="https://fleet.example/",
    webhook_url="https://fleet.example:8490",
    secret="secret",
    templates={"dcim.site": "code", "dcim.rack": "code"},
)
WEBHOOK = RequiredObject(Kind.WEBHOOK, "w", {"payload_url": "https://new.example"}, ("payload_url",))
EVERYTHING = {kind: frozenset({"view", "add", "change"}) for kind in Kind}


def row(*, mine: bool = True, url: str = "https://old.example") -> dict[str, Any]:
    """Return a webhook as NetBox gives it."""
    return {"id": 1, "name": "w", "payload_url": url, "description": MARK if mine else "by hand"}


def test_everything_that_is_made_bears_the_mark() -> None:
    """A token aside, whose description is made with it: else a second run would take it for another's."""
    for want in wanted(ALL):
        if want.kind is not Kind.TOKEN:
            assert MARK in str(want.fields[ABOUT[want.kind].mark]), want.name


def test_descriptions_fit_into_netbox() -> None:
    """It takes 200 characters of them, and 100 of a name."""
    for want in wanted(ALL):
        assert len(str(want.fields.get("description", ""))) <= 200, want.name
        assert len(want.name) <= 100


def test_names_are_one_kinds_alone() -> None:
    """But those of export templates, of which each object type has one."""
    found = wanted(ALL)
    assert len({want.ref for want in found}) == len(found)


def test_what_the_settings_do_not_ask_for_is_not_made() -> None:
    """Without an address no link and no webhook, without a file no token."""
    kinds = {want.kind for want in wanted(NOTHING)}
    assert kinds.isdisjoint({Kind.CUSTOM_LINK, Kind.WEBHOOK, Kind.EVENT_RULE, Kind.TOKEN, Kind.EXPORT_TEMPLATE})
    assert {want.kind for want in wanted(ALL)} == set(Kind)


def test_people_write_only_what_is_theirs() -> None:
    """State and since are read in pages; a request is made there."""
    editable = {want.name: want.fields["ui_editable"] for want in wanted(ALL) if want.kind is Kind.CUSTOM_FIELD}
    assert editable == {
        custom_fields.MANAGEMENT: "yes",
        custom_fields.STATE: "no",
        custom_fields.SINCE: "no",
        custom_fields.REQUEST: "yes",
        custom_fields.REASON: "yes",
    }


def test_links_and_webhook_go_where_the_settings_say() -> None:
    """However their ends are written."""
    by_kind = {want.kind: want for want in wanted(ALL)}
    url = by_kind[Kind.CUSTOM_LINK].fields["link_url"]
    assert url == "https://fleet.example/nodes/{{ object.name|urlencode }}"
    assert by_kind[Kind.WEBHOOK].fields["payload_url"] == f"https://fleet.example:8490{pages.DOOR}"


@pytest.mark.parametrize(
    ("writes", "expected"),
    [
        (Writes(), set[str]()),
        (Writes(cables=True), {"dcim.cable"}),
        (Writes(intents=True), {"dcim.device", "extras.journalentry"}),
        (Writes(nodes=True), {"dcim.device", "extras.journalentry", "dcim.inventoryitem", "dcim.module"}),
    ],
)
def test_the_user_may_write_what_the_settings_ask_and_nothing_more(writes: Writes, expected: set[str]) -> None:
    """The other permissions are switched off where they were made, and a token that writes nothing may not write."""
    rights = [want for want in account.wanted(writes, "password", "file") if want.kind is Kind.PERMISSION]
    writing = [want for want in rights if not want.only_there and want.fields["actions"] != ["view"]]
    assert {each for want in writing for each in want.fields["object_types"]} == expected
    assert all("delete" not in want.fields["actions"] for want in rights if not want.only_there)
    assert all(want.fields["constraints"] for want in writing)
    assert {each for each, actions in needed(writes).items() if actions} == expected
    token = account.wanted(writes, "password", "file")[-1]
    assert token.fields["write_enabled"] is bool(expected) is writes.any


def test_a_token_that_does_not_fit_is_said() -> None:
    """Both what it lacks, and what it may beyond what is asked."""
    fits = needed(Writes(cables=True))
    assert unfit("f", Writes(cables=True), fits) == ()
    assert unfit("f", Writes(), fits) == ("the token in f may change dcim.cable, which the settings do not ask for",)
    (lacks,) = unfit("f", Writes(cables=True), needed(Writes()))
    assert lacks.startswith("the token in f may not change dcim.cable;")


def test_every_missing_permission_is_named_at_once() -> None:
    """Also those of kinds that the token cannot see, of what waits, and those that NetBox does not tell of."""
    steps = plan(wanted(ALL), {})
    nothing = {kind: frozenset[str]() for kind in Kind}
    every = {permission(kind, action) for kind in Kind for action in ("view", "add")}
    assert set(missing(within(steps, nothing))) == every | set(GRANT)
    assert missing(within(steps, EVERYTHING)) == ()
    assert within(steps, EVERYTHING) == steps
    no_tag = EVERYTHING | {Kind.TAG: frozenset({"view"})}
    assert missing(within(steps, no_tag)) == ("extras.add_tag", *GRANT)
    assert missing(within(plan(wanted(NOTHING), {}), no_tag)) == ("extras.add_tag",)


def test_what_needs_something_that_may_not_be_made_waits() -> None:
    """The rest is done all the same."""
    steps = within(plan(wanted(ALL), {}), EVERYTHING | {Kind.USER: frozenset({"view"})})
    acts = {step.wanted.kind: step.act for step in steps}
    assert acts[Kind.USER] is Act.LACKS
    assert acts[Kind.PERMISSION] is acts[Kind.TOKEN] is Act.WAITS
    assert acts[Kind.CUSTOM_FIELD] is Act.MAKE


def test_a_change_needs_another_permission_than_making() -> None:
    """Of what is there already, none."""
    (step,) = within(plan((WEBHOOK,), {Kind.WEBHOOK: [row()]}), {Kind.WEBHOOK: frozenset({"view", "add"})})
    assert step.lacks == ("extras.change_webhook",)
    (kept,) = within(plan((WEBHOOK,), {Kind.WEBHOOK: [row(url="https://new.example")]}), {})
    assert kept.act is Act.KEEP


def test_a_tag_is_known_by_its_slug() -> None:
    """NetBox takes no second one of it, whatever its name; any tag of it will do."""
    (step,) = plan((pages.TAG,), {Kind.TAG: [{"id": 1, "name": "Fleet", "slug": "fleet-runner", "description": ""}]})
    assert step.act is Act.KEEP


def test_no_right_is_given_to_a_user_that_somebody_else_made() -> None:
    """Who has its password would have them."""
    user = {"id": 7, "username": account.NAME, "last_name": ""}
    steps = plan(account.wanted(Writes(), "password", "file"), {Kind.USER: [user]})
    assert {step.wanted.kind: step.act for step in steps} == {
        Kind.USER: Act.DIFFERS,
        Kind.PERMISSION: Act.WAITS,
        Kind.TOKEN: Act.WAITS,
    }


def test_a_plan_is_read_in_short_lines() -> None:
    """Each fits on 80 columns, and what is the same stands together."""
    theirs = plan((WEBHOOK,), {Kind.WEBHOOK: [row(mine=False)]})
    steps = (*theirs, *within(plan(wanted(ALL), {}), EVERYTHING | {Kind.USER: frozenset()}))
    told = list(report.lines(steps))
    assert told[:3] == [
        "differs webhook w",
        "        payload_url: found https://old.example, expected https://new.example",
        "        somebody else created it, so it stays; rename or correct it in NetBox",
    ]
    assert "        missing permission: users.view_user, users.add_user" in told
    assert "        needs user fleet-runner first" in told
    assert "make    export templates fleet-runner of dcim.site, fleet-runner of dcim.rack" in told
    assert max(map(len, told)) <= 80
    assert report.summary(steps) == "14 to make, 1 of others differ, 1 not allowed, 8 waiting"
    assert list(report.lines(plan((WEBHOOK,), {Kind.WEBHOOK: [row(url="https://new.example")]}))) == []


def test_advice_is_given_where_something_is_missing() -> None:
    """And none where nothing is."""
    steps = plan(wanted(NOTHING), {})
    assert report.advice(steps) == ""
    lacks = within(steps, EVERYTHING | {Kind.TAG: frozenset({"view"})})
    assert report.advice(lacks) == "give the token's user extras.add_tag, then run it again"


def test_a_plan_for_programs_says_the_same() -> None:
    """Without secrets."""
    steps = within(plan(wanted(ALL), {}), EVERYTHING | {Kind.USER: frozenset({"view"})})
    plain = [report.plain(step, "refused") for step in steps]
    assert "secret" not in str([step["differences"] for step in plain])
    by_kind = {step["kind"]: step for step in plain}
    assert by_kind["users.user"]["lacks"] == ["users.add_user"]
    assert by_kind["users.objectpermission"]["waits_for"] == "fleet-runner"
    assert by_kind["extras.tag"] == {
        "act": "make",
        "kind": "extras.tag",
        "name": "fleet-runner",
        "object_type": None,
        "id": None,
        "differences": [],
        "lacks": [],
        "waits_for": None,
        "why_not": "refused",
    }


def test_each_object_is_called_by_its_kind_and_name() -> None:
    """A template of a list by the list, too: all of them have one name."""
    called = [report.named(step.wanted) for step in plan((WEBHOOK,), {})]
    assert len(called) == 1
    assert called[0].startswith("webhook ")
