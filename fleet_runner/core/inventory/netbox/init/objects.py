"""The kinds of objects that `netbox init` makes, and one of them as it is wanted."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

MARK = "fleet-runner netbox init"
"""What stands in everything that `netbox init` made: the rest is somebody else's, and stays as it is."""


class Kind(StrEnum):
    """A kind of object, by the list of NetBox's REST API that holds it; in the order in which they are made."""

    CHOICE_SET = "extras/custom-field-choice-sets"
    CUSTOM_FIELD = "extras/custom-fields"
    TAG = "extras/tags"
    CUSTOM_LINK = "extras/custom-links"
    EXPORT_TEMPLATE = "extras/export-templates"
    WEBHOOK = "extras/webhooks"
    EVENT_RULE = "extras/event-rules"
    USER = "users/users"
    PERMISSION = "users/permissions"
    TOKEN = "users/tokens"  # noqa: S105  the address of a list


class About(NamedTuple):
    """What is to be known of a kind.

    `mark` is the field that MARK stands in. Of the fields in `grow` NetBox may hold more than is asked for: what
    others added there stays.
    """

    word: str
    model: str
    mark: str = "description"
    named: str = "name"
    grow: frozenset[str] = frozenset()


ABOUT: Mapping[Kind, About] = {
    Kind.CHOICE_SET: About("choice set", "extras.customfieldchoiceset", grow=frozenset({"extra_choices"})),
    Kind.CUSTOM_FIELD: About("custom field", "extras.customfield", mark="comments", grow=frozenset({"object_types"})),
    Kind.TAG: About("tag", "extras.tag", named="slug"),
    Kind.CUSTOM_LINK: About("custom link", "extras.customlink", mark="link_text", grow=frozenset({"object_types"})),
    Kind.EXPORT_TEMPLATE: About("export template", "extras.exporttemplate"),
    Kind.WEBHOOK: About("webhook", "extras.webhook"),
    Kind.EVENT_RULE: About("event rule", "extras.eventrule", grow=frozenset({"object_types", "event_types"})),
    Kind.USER: About("user", "users.user", mark="last_name", named="username"),
    Kind.PERMISSION: About("permission", "users.objectpermission", grow=frozenset({"users"})),
    Kind.TOKEN: About("token", "users.token", named="description"),
}


class Ref(NamedTuple):
    """Another object that one refers to; NetBox knows it by its id, which is known once it is there."""

    kind: Kind
    name: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class RequiredObject:
    """An object that fleet-runner needs.

    `fields` are as they are sent to make it, where a Ref stands for an id. `settled` are those of them that it does
    not work without; the others are people's to change. `of` is the object type of an export template, whose name
    is not its alone. `only_there`: it is never made, but what was made is brought to this.
    """

    kind: Kind
    name: str
    fields: Mapping[str, Any]
    settled: tuple[str, ...] = ()
    of: str = ""
    only_there: bool = False

    @property
    def ref(self) -> Ref:
        """What others refer to it by."""
        return Ref(self.kind, self.name, self.of)
