"""What the store does for those who run on it, and for those who look at it through pages."""

from fleet_runner.adapters.store.asking import PageWishMethods
from fleet_runner.adapters.store.carrying import CarryingMethods
from fleet_runner.adapters.store.floor import FloorMethods
from fleet_runner.adapters.store.foreseeing import ForesightMethods
from fleet_runner.adapters.store.glancing import GlanceMethods
from fleet_runner.adapters.store.identity import IdentityMethods
from fleet_runner.adapters.store.keeping import KeepingMethods
from fleet_runner.adapters.store.lemoning import LemonMethods
from fleet_runner.adapters.store.ownership import OwnershipMethods
from fleet_runner.adapters.store.past_runs import PastRunMethods
from fleet_runner.adapters.store.rollout_counts import RolloutCountMethods
from fleet_runner.adapters.store.schedules import ScheduleMethods
from fleet_runner.adapters.store.tallying import TallyMethods
from fleet_runner.adapters.store.through import ThroughMethods
from fleet_runner.adapters.store.timeline import TimelineMethods
from fleet_runner.adapters.store.tracing import TraceMethods
from fleet_runner.adapters.store.web import WebMethods
from fleet_runner.adapters.store.wished import WishedMethods
from fleet_runner.adapters.store.worth import WorthMethods


class RunningMethods(
    CarryingMethods,
    ScheduleMethods,
    KeepingMethods,
    ThroughMethods,
    PageWishMethods,
    WebMethods,
    WorthMethods,
    FloorMethods,
    PastRunMethods,
    RolloutCountMethods,
    WishedMethods,
    TallyMethods,
    GlanceMethods,
    TraceMethods,
    TimelineMethods,
    ForesightMethods,
    LemonMethods,
    OwnershipMethods,
    IdentityMethods,
):
    """Runners and their batches, schedules, how large the store may grow, and what people ask for or see."""
