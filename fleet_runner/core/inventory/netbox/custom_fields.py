"""The custom fields of a node's page in NetBox: what people read there, and what they ask for."""

from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import FABRICS, State

MANAGEMENT = "fleet_management"
STATE = "fleet_state"
SINCE = "fleet_since"
REQUEST = "fleet_wish"
REASON = "fleet_wish_reason"

STATES = tuple(state.value for state in State if state not in FABRICS)
"""What `fleet_state` may be: the states of nodes."""

REQUESTS = tuple(
    intent.value
    for intent in (
        IntentKind.CERTIFY,
        IntentKind.HOLD,
        IntentKind.MAINTENANCE,
        IntentKind.RELEASE,
        IntentKind.CANCEL,
        IntentKind.REBOOT,
        IntentKind.TRIAGE,
        IntentKind.DEBUG,
        IntentKind.REPAIRED,
        IntentKind.RETRY,
    )
)
"""What `fleet_wish` may be: not what cannot be undone, and not what needs more words than a reason."""

MANAGEMENTS = tuple(each.value for each in Management)
"""What `fleet_management` may be."""
