"""The jobs of an iDRAC for BIOS settings: scheduled, carried out by the host on its way up, and kept when over."""

from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.tasks import moment
from fleet_runner.lab.redfish.trees import Body
from fleet_runner.lab.redfish.wire import Refused, Reply

OVER = frozenset({"Completed", "Failed"})

COMMITTED = "Pending configuration values are already committed, unable to perform another set operation."
NOTHING = "No pending data present to create a Configuration job."
"""What an iDRAC says, as dell/iDRAC-Redfish-Scripting 9 and quadsproject/quads 726 quote it."""


class BiosJobs:
    """The jobs for the settings that wait at one URI; without a collection (`uri` is "") there are none."""

    def __init__(self, chip: Chip, settings: str) -> None:
        self._chip = chip
        self._settings = settings
        self.uri = chip.tree.link(settings, "Oem", "Dell", "Jobs")
        self._made: dict[str, Body] = {}

    @property
    def open(self) -> Body | None:
        """The job that is scheduled or running."""
        return next((job for job in self._made.values() if job["JobState"] not in OVER), None)

    def refuse_another(self) -> None:
        """Raise Refused while a job is open."""
        if self.open:
            raise Refused(400, COMMITTED, "IDRAC.2.8.SYS011")

    def schedule(self, now: float) -> Reply:
        """Make a job for what waits; it runs when the host starts."""
        name = f"JID_{900_000_000_000 + len(self._made)}"
        uri = f"{self.uri}/{name}"
        self._made[uri] = {
            "@odata.id": uri, "@odata.type": "#DellJob.v1_2_0.DellJob", "Id": name, "Name": "Configure: BIOS",
            "JobType": "BIOSConfiguration", "JobState": "Scheduled", "PercentComplete": 0,
            "Message": "Task successfully scheduled.", "MessageId": "JCP001", "StartTime": moment(now),
            "TargetSettingsURI": self._settings,
        }  # fmt: skip
        self._chip.emit("bios_job", id=name)
        return Reply(202, None, {"Location": uri})

    def post(self, said: Body, now: float, *, waits: bool) -> Reply:
        """Make a job as it is asked for, or raise Refused."""
        if said.get("TargetSettingsURI") != self._settings:
            raise Refused(400, "TargetSettingsURI names no settings", "PropertyValueNotInList")
        self.refuse_another()
        if not waits:
            raise Refused(400, NOTHING)
        return self.schedule(now)

    def say(self, state: str, message: str, percent: int) -> None:
        """Let the open job come to another state."""
        if (job := self.open) is not None:
            job.update(JobState=state, Message=message, PercentComplete=percent)

    def body(self, uri: str) -> Body | None:
        """Return a job that was made here, or the collection with these; None for anything else."""
        if not self.uri or uri != self.uri:
            return self._made.get(uri)
        listed: list[Any] = [
            *(self._chip.tree.get(uri).get("Members") or ()),
            *({"@odata.id": m} for m in self._made),
        ]
        return {"@odata.id": uri, **self._chip.tree.get(uri), "Members": listed, "Members@odata.count": len(listed)}
