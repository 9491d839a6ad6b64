"""The custom fields of nodes' pages, with their choices, as `netbox init` makes them."""

from typing import NamedTuple

from fleet_runner.core.inventory.netbox import custom_fields
from fleet_runner.core.inventory.netbox.init.objects import MARK, Kind, Ref, RequiredObject

DEVICE = "dcim.device"
GROUP = "fleet-runner"
"""What stands above the fields in a node's page."""

WEIGHT = 100
"""NetBox's own for a field; ours stand in the order below."""


class Field(NamedTuple):
    """A custom field; whether people may edit it in pages ("yes", "no"), and what it is for."""

    name: str
    type: str
    label: str
    editable: str
    words: str


FIELDS = (
    Field(custom_fields.MANAGEMENT, "select", "Management", "yes", "Who looks after the node; empty: fleet-runner"),
    Field(custom_fields.STATE, "select", "State", "no", "State of the node, written by fleet-runner"),
    Field(custom_fields.SINCE, "datetime", "State since", "no", "Since when in this state, written by fleet-runner"),
    Field(custom_fields.REQUEST, "select", "Request", "yes", "What fleet-runner should do with the node"),
    Field(custom_fields.REASON, "text", "Reason", "yes", "Reason; kept in the node's history with your name"),
)

SETS = {
    custom_fields.MANAGEMENT: ("fleet-runner management", custom_fields.MANAGEMENTS),
    custom_fields.STATE: ("fleet-runner states", custom_fields.STATES),
    custom_fields.REQUEST: ("fleet-runner wishes", custom_fields.REQUESTS),
}
"""The choice set of each field that has one, and what is in it."""


def wanted() -> tuple[RequiredObject, ...]:
    """Return choice sets and custom fields, in the order in which they are made."""
    return (*map(_choice_set, SETS), *(_field(field, WEIGHT + at) for at, field in enumerate(FIELDS)))


def _choice_set(field: str) -> RequiredObject:
    name, choices = SETS[field]
    return RequiredObject(
        Kind.CHOICE_SET,
        name,
        {
            "name": name,
            "description": f"Choices of the custom field {field}; made by {MARK}",
            "extra_choices": [[choice, choice.replace("_", " ")] for choice in choices],
        },
        settled=("extra_choices",),
    )


def _field(field: Field, weight: int) -> RequiredObject:
    choices = {"choice_set": Ref(Kind.CHOICE_SET, SETS[field.name][0])} if field.name in SETS else {}
    return RequiredObject(
        Kind.CUSTOM_FIELD,
        field.name,
        {
            "name": field.name,
            "object_types": [DEVICE],
            "type": field.type,
            "label": field.label,
            "group_name": GROUP,
            "description": field.words,
            "ui_editable": field.editable,
            "weight": weight,
            "comments": f"Made by {MARK}.",
            **choices,
        },
        settled=("object_types", "type", *choices),
    )
