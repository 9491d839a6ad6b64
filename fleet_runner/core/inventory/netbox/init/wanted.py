"""Everything that fleet-runner needs in a NetBox, as the settings ask."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet_runner.core.inventory.netbox.init import account, fields, pages
from fleet_runner.core.inventory.netbox.init.account import Writes
from fleet_runner.core.inventory.netbox.init.objects import MARK, Kind, RequiredObject


@dataclass(frozen=True, slots=True)
class InitOptions:
    """What the settings ask for.

    `token` is the file that waits for a token. `templates` are the codes of the export templates, by object type.
    `webhook_url` is where NetBox reaches the listener, `secret` what it signs with; `password` is one that nobody
    knows. Without an address there is no link, or no webhook.
    """

    password: str
    writes: Writes
    token: str = ""
    web_url: str = ""
    webhook_url: str = ""
    secret: str = ""
    templates: Mapping[str, str] = field(default_factory=dict[str, str])


def wanted(asked: InitOptions) -> tuple[RequiredObject, ...]:
    """Return every object, in the order in which they are made."""
    return (
        *fields.wanted(),
        pages.TAG,
        *([pages.link(asked.web_url)] if asked.web_url else ()),
        *(_template(object_type, code) for object_type, code in asked.templates.items()),
        *(pages.webhook(asked.webhook_url, asked.secret) if asked.webhook_url else ()),
        *account.wanted(asked.writes, asked.password, asked.token),
    )


def _template(object_type: str, code: str) -> RequiredObject:
    return RequiredObject(
        Kind.EXPORT_TEMPLATE,
        account.TEMPLATE,
        {
            "name": account.TEMPLATE,
            "object_types": [object_type],
            "description": f"What fleet-runner reads; made by {MARK}",
            "template_code": code,
            "mime_type": "application/json",
            "as_attachment": False,
        },
        settled=("template_code",),
        of=object_type,
    )
