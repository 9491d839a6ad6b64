"""What the store does for those who run on it, and for those who look at it through pages."""

from fleet_runner.adapters.store.access.facade import WebMethods
from fleet_runner.adapters.store.firmware.rollout_counts import RolloutCountMethods
from fleet_runner.adapters.store.jobs.answers import JobAnswerMethods
from fleet_runner.adapters.store.jobs.known import KnownMethods
from fleet_runner.adapters.store.lifecycle.floor import FloorMethods
from fleet_runner.adapters.store.lifecycle.identity import IdentityMethods
from fleet_runner.adapters.store.lifecycle.intent import IntentMethods
from fleet_runner.adapters.store.lifecycle.mentions import RestMethods
from fleet_runner.adapters.store.lifecycle.timeline import TimelineMethods
from fleet_runner.adapters.store.maintenance.ownership import OwnershipMethods
from fleet_runner.adapters.store.maintenance.retention import RetentionMethods
from fleet_runner.adapters.store.netbox.intents_facade import PageIntentMethods
from fleet_runner.adapters.store.reliability.check_value import WorthMethods
from fleet_runner.adapters.store.reliability.facade import ForesightMethods
from fleet_runner.adapters.store.reliability.fleet_metrics import FleetGaugeMethods
from fleet_runner.adapters.store.reliability.lemons import LemonMethods
from fleet_runner.adapters.store.reliability.metrics import TallyMethods
from fleet_runner.adapters.store.runs.ended import TraceMethods
from fleet_runner.adapters.store.runs.finished_nodes import ThroughMethods
from fleet_runner.adapters.store.runs.leases import CarryingMethods
from fleet_runner.adapters.store.runs.past import PastRunMethods
from fleet_runner.adapters.store.schedules.firings import ScheduleMethods


class RunningMethods(
    CarryingMethods,
    ScheduleMethods,
    RetentionMethods,
    ThroughMethods,
    PageIntentMethods,
    WebMethods,
    WorthMethods,
    FloorMethods,
    PastRunMethods,
    RolloutCountMethods,
    IntentMethods,
    TallyMethods,
    FleetGaugeMethods,
    TraceMethods,
    TimelineMethods,
    RestMethods,
    ForesightMethods,
    LemonMethods,
    OwnershipMethods,
    IdentityMethods,
    JobAnswerMethods,
    KnownMethods,
):
    """Runners and their batches, schedules, how large the store may grow, and what people ask for or see."""
