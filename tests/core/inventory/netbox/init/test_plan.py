"""What is done in a NetBox that has nothing, some or all of what is wanted, by whomever it was made."""

from typing import Any

import pytest

from fleet_runner.core.inventory.netbox.init import fields
from fleet_runner.core.inventory.netbox.init.objects import ABOUT, MARK, Kind, Ref, RequiredObject
from fleet_runner.core.inventory.netbox.init.plan import Act, Found, Step, filled, ids, lost, ours, plan, refs

SET = RequiredObject(
    Kind.CHOICE_SET, "states", {"name": "states", "extra_choices": [["a", "A"], ["b", "B"]]}, ("extra_choices",)
)
FIELD = RequiredObject(
    Kind.CUSTOM_FIELD,
    "state",
    {
        "name": "state",
        "type": "select",
        "object_types": ["dcim.device"],
        "choice_set": Ref(Kind.CHOICE_SET, "states"),
    },
    ("object_types", "type", "choice_set"),
)
USER = RequiredObject(Kind.USER, "robot", {"username": "robot"})
RIGHT = RequiredObject(
    Kind.PERMISSION,
    "reads",
    {"name": "reads", "enabled": True, "actions": ["view", "add"], "users": [Ref(Kind.USER, "robot")]},
    ("enabled", "actions", "users"),
)


def of(kind: Kind, number: int = 1, *, mine: bool = True, **row: Any) -> dict[str, Any]:
    """Return an object as NetBox gives it."""
    return {"id": number, ABOUT[kind].mark: f"Made by {MARK}." if mine else "by hand", **row}


def choices(number: int = 1, *, mine: bool = True, name: str = "states", values: str = "ab") -> dict[str, Any]:
    """Return a choice set as NetBox gives it."""
    pairs = [[value, value.upper()] for value in values]
    return of(Kind.CHOICE_SET, number, mine=mine, name=name, extra_choices=pairs)


def field(
    *, mine: bool = True, kind: str = "select", types: tuple[str, ...] = ("dcim.device",), of_set: int = 1
) -> Any:
    """Return a custom field as NetBox gives it."""
    return of(
        Kind.CUSTOM_FIELD,
        mine=mine,
        name="state",
        type={"value": kind, "label": kind.title()},
        object_types=list(types),
        choice_set={"id": of_set, "name": "another"},
    )


def found(**rows: Any) -> Found:
    """Return what a NetBox has of choice sets and custom fields."""
    return {Kind.CHOICE_SET: rows.get("sets", ()), Kind.CUSTOM_FIELD: rows.get("fields", ())}


def acts(*steps: Step) -> dict[str, Act]:
    """Return what is done, by name."""
    return {step.wanted.name: step.act for step in steps}


def test_in_an_empty_netbox_all_is_made_in_an_order_in_which_it_can_be() -> None:
    """What others refer to is there before them."""
    made: set[Ref] = set()
    for step in plan(fields.wanted(), {}):
        assert step.act is Act.MAKE
        assert refs(step.wanted.fields) <= made
        made.add(step.wanted.ref)


def test_what_is_as_it_is_wanted_is_kept() -> None:
    """A second run changes nothing."""
    steps = plan((SET, FIELD), found(sets=[choices()], fields=[field()]))
    assert acts(*steps) == {"states": Act.KEEP, "state": Act.KEEP}
    assert ids(steps) == {SET.ref: 1, FIELD.ref: 1}


def test_what_people_add_to_choices_and_types_stays() -> None:
    """A site may have states and kinds of objects of its own; only what is missing is added."""
    steps = plan((SET, FIELD), found(sets=[choices(values="xb")], fields=[field(types=("dcim.rack",))]))
    assert [dict(step.change) for step in steps] == [
        {"extra_choices": [["x", "X"], ["b", "B"], ["a", "A"]]},
        # the field's set offers too little as yet, and it is the wanted one: nothing is to be done about that here
        {"object_types": ["dcim.rack", "dcim.device"]},
    ]
    more = plan((SET, FIELD), found(sets=[choices(values="xab")], fields=[field(types=("dcim.rack", "dcim.device"))]))
    assert acts(*more) == {"states": Act.KEEP, "state": Act.KEEP}


def test_a_label_that_people_changed_is_theirs() -> None:
    """The value is what counts."""
    renamed = choices() | {"extra_choices": [["a", "Anders"], ["b", "B"]]}
    assert acts(*plan((SET,), found(sets=[renamed]))) == {"states": Act.KEEP}


def test_what_somebody_else_made_and_fits_is_used() -> None:
    """A field of the site's own with a set of its own: ours is not made in vain."""
    theirs = found(sets=[choices(7, mine=False, name="ours", values="abc")], fields=[field(mine=False, of_set=7)])
    assert acts(*plan((SET, FIELD), theirs)) == {"state": Act.KEEP}


def test_what_somebody_else_made_and_differs_is_said_and_left_alone() -> None:
    """With what was found and what is expected."""
    (step,) = plan((SET, FIELD), found(sets=[choices()], fields=[field(mine=False, kind="text")]))[-1:]
    assert step.act is Act.DIFFERS
    assert not step.change
    assert [(each.field, each.observed, each.expected) for each in step.differences] == [("type", "text", "select")]


def test_what_needs_something_that_differs_waits_for_it() -> None:
    """A field with choices that lack ours would refuse states later."""
    steps = plan((SET, FIELD), found(sets=[choices(mine=False, values="wxyz")]))
    assert acts(*steps) == {"states": Act.DIFFERS, "state": Act.WAITS}
    assert steps[-1].waits_for == SET.ref
    assert steps[0].differences[0].observed == "w, x, y, 1 more"


def test_of_several_with_a_name_ours_is_taken() -> None:
    """Export templates' names are not theirs alone."""
    want = RequiredObject(Kind.EXPORT_TEMPLATE, "t", {"template_code": "new"}, ("template_code",), of="dcim.site")
    rows = [
        of(Kind.EXPORT_TEMPLATE, 1, name="t", object_types=["dcim.rack"], template_code="new"),
        of(Kind.EXPORT_TEMPLATE, 2, mine=False, name="t", object_types=["dcim.site"], template_code="theirs"),
        of(Kind.EXPORT_TEMPLATE, 3, name="t", object_types=["dcim.site"], template_code="old"),
    ]
    (step,) = plan((want,), {Kind.EXPORT_TEMPLATE: rows})
    assert (step.row["id"], dict(step.change)) == (3, {"template_code": "new"})
    assert step.differences[0].observed == "another version"
    assert acts(*plan((want,), {Kind.EXPORT_TEMPLATE: rows[:1]})) == {"t": Act.MAKE}


def test_text_is_compared_as_netbox_trims_it() -> None:
    """Else a template that ends with a line feed was another at every run."""
    want = RequiredObject(Kind.EXPORT_TEMPLATE, "t", {"template_code": "code\n"}, ("template_code",))
    row = of(Kind.EXPORT_TEMPLATE, name="t", template_code="code")
    assert acts(*plan((want,), {Kind.EXPORT_TEMPLATE: [row]})) == {"t": Act.KEEP}


def test_a_user_that_is_still_to_be_made_is_added_to_a_permission_that_is_there() -> None:
    """Others that were given the permission keep it."""
    row = of(Kind.PERMISSION, name="reads", enabled=True, actions=["add", "view"], users=[{"id": 5, "username": "x"}])
    steps = plan((USER, RIGHT), {Kind.PERMISSION: [row]})
    assert acts(*steps) == {"robot": Act.MAKE, "reads": Act.CHANGE}
    assert filled(steps[1].change, {USER.ref: 9}.__getitem__) == {"users": [5, 9]}


@pytest.mark.parametrize("enabled", [True, False])
def test_what_is_asked_for_no_more_is_switched_off_only_where_we_made_it(*, enabled: bool) -> None:
    """And it is never made."""
    want = RequiredObject(Kind.PERMISSION, "writes", {"enabled": False}, ("enabled",), only_there=True)
    row = of(Kind.PERMISSION, name="writes", enabled=enabled)
    (step,) = plan((want,), {Kind.PERMISSION: [row]})
    assert step.act is (Act.CHANGE if enabled else Act.KEEP)
    assert [(each.observed, each.expected) for each in step.differences] == [("yes", "no")][:enabled]
    assert plan((want,), {}) == ()
    assert plan((want,), {Kind.PERMISSION: [row | {"description": ""}]}) == ()


def test_secrets_and_long_texts_are_in_no_difference() -> None:
    """A plan is printed, and may be kept."""
    want = RequiredObject(
        Kind.WEBHOOK, "w", {"secret": "new-secret", "payload_url": "https://a"}, ("secret", "payload_url")
    )
    (step,) = plan((want,), {Kind.WEBHOOK: [of(Kind.WEBHOOK, name="w", secret="old-secret", payload_url="")]})
    assert [(each.observed, each.expected) for each in step.differences] == [
        ("another", "this one's"),
        ("nothing", "https://a"),
    ]
    assert step.change["secret"] == "new-secret"


def test_values_are_told_as_people_read_them() -> None:
    """Of an object its name, of conditions what they are."""
    want = RequiredObject(
        Kind.EVENT_RULE,
        "r",
        {"action_object_id": Ref(Kind.WEBHOOK, "w"), "more": {"b": 1}},
        ("action_object_id", "more"),
    )
    row = of(Kind.EVENT_RULE, name="r", action_object_id=None, more=[])
    steps = plan((want,), {Kind.EVENT_RULE: [row]})
    assert [(each.observed, each.expected) for each in steps[0].differences] == [
        ("nothing", "w"),
        ("nothing", "b = 1"),
    ]


def test_only_a_mark_makes_an_object_ours() -> None:
    """It may be anywhere in the text; a text that is not there is no mark."""
    assert ours(Kind.TAG, {"description": f"Changed by me; made by {MARK}, long ago"})
    assert not ours(Kind.TAG, {"description": None})
    assert not ours(Kind.TAG, {})


def test_what_netbox_keeps_otherwise_than_it_was_sent_is_found() -> None:
    """It takes fields that it does not know, and drops them."""
    sent = {"enabled": True, "actions": ["add", "view"], "users": [2, 1], "description": "words"}
    answer = {"id": 9, "enabled": True, "actions": ["view", "add"], "users": [{"id": 1}, {"id": 2}]}
    assert lost(RIGHT, sent, answer) == ()
    assert lost(RIGHT, sent, answer | {"enabled": False, "users": []}) == ("enabled", "users")
    assert lost(RIGHT, {"enabled": True}, {"id": 9, "enabled": True}) == ()
