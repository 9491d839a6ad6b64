"""What people and NetBox itself reach fleet-runner by: links in nodes' pages, and a webhook for requests."""

from fleet_runner.core.inventory.netbox import custom_fields
from fleet_runner.core.inventory.netbox.init.objects import MARK, Kind, Ref, RequiredObject
from fleet_runner.core.inventory.records import NODE_ROLES

NAME = "fleet-runner"
"""Of each: tag, link, webhook; a name is one kind's alone."""

RULE = "fleet-runner wishes"
DOOR = "/signals/netbox"
"""Where the listener takes what NetBox sends."""

TAG = RequiredObject(
    Kind.TAG,
    NAME,
    {"name": NAME, "slug": NAME, "description": f"Belongs to fleet-runner; made by {MARK}"},
)


def link(web_url: str) -> RequiredObject:
    """Return the link from a node's page to fleet-runner's page of it."""
    roles = ", ".join(f"'{role}'" for role in sorted(NODE_ROLES))
    return RequiredObject(
        Kind.CUSTOM_LINK,
        NAME,
        {
            "name": NAME,
            "object_types": ["dcim.device"],
            "link_text": f"{{# made by {MARK} #}}{{% if object.role.slug in [{roles}] %}}fleet-runner{{% endif %}}",
            "link_url": f"{web_url.rstrip('/')}/nodes/{{{{ object.name|urlencode }}}}",
            "new_window": True,
        },
        settled=("object_types", "link_url"),
    )


def webhook(url: str, secret: str) -> tuple[RequiredObject, ...]:
    """Return the webhook, signed with the secret, and the rule that calls it where a node's page has a request."""
    attribute = f"custom_fields.{custom_fields.REQUEST}"
    hook = RequiredObject(
        Kind.WEBHOOK,
        NAME,
        {
            "name": NAME,
            "description": f"Notifies fleet-runner of a request in a device's page; made by {MARK}",
            "payload_url": f"{url.rstrip('/')}{DOOR}",
            "http_method": "POST",
            "secret": secret,
            "tags": [{"name": NAME, "slug": NAME}],
        },
        settled=("payload_url", "http_method", "secret"),
    )
    rule = RequiredObject(
        Kind.EVENT_RULE,
        RULE,
        {
            "name": RULE,
            "description": f"Notifies fleet-runner when {custom_fields.REQUEST} changes; made by {MARK}",
            "object_types": ["dcim.device"],
            "event_types": ["object_created", "object_updated"],
            "conditions": {"attr": attribute, "value": None, "negate": True},
            "action_type": "webhook",
            "action_object_type": "extras.webhook",
            "action_object_id": Ref(Kind.WEBHOOK, NAME),
            "tags": [{"name": NAME, "slug": NAME}],
        },
        settled=("object_types", "event_types", "action_type", "action_object_id"),
    )
    return hook, rule
