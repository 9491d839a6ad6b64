"""The jobs of the simulated hall, and the answers to why some of them ended before their time."""

from dataclasses import dataclass, field

from fleet_runner.core.checks.verdicts import Finding
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.kinds import kind
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab import plan
from fleet_runner.lab.past.pen import Life, Pen

HOUR = 3_600.0
FIRST = 48_211
"""The number of the first job."""

SIZES = (2, 4, 8)
NAMES = ("pretrain", "finetune", "evaluate")
OWN_FAULT = 0.06
"""Of jobs, that end by an error of their own."""


@dataclass(slots=True)
class Jobs:
    """The jobs that run, by number, and what is known of those that were interrupted."""

    pen: Pen
    AT_ONCE: int = 6
    number: int = FIRST
    running: dict[int, Job] = field(default_factory=dict[int, Job])
    answers: list[Answer] = field(default_factory=list[Answer])

    def one_after_another(self) -> Life:
        """Run a job after the other on servers that serve and have none."""
        random = self.pen.random
        while True:
            yield random.uniform(0.1, 6) * HOUR
            busy = {name for job in self.running.values() for name in job.nodes}
            free = sorted(
                name for name, state in self.pen.states.items() if state is State.PRODUCTION and name not in busy
            )
            size = random.choice(SIZES)
            if len(free) < size:
                continue
            start = random.randrange(len(free) - size + 1)
            number, self.number = self.number, self.number + 1
            self.running[number] = self._job(number, tuple(free[start : start + size]))
            yield random.lognormvariate(2.8, 0.7) * HOUR
            job = self.running.pop(number, None)
            if job is not None and random.random() < OWN_FAULT:
                self._failed(job)

    def lose(self, node: str, finding: Finding) -> None:
        """Have the job that runs on a server die of a fault."""
        number = next((number for number, job in self.running.items() if node in job.nodes), None)
        if number is None:
            return
        job, at = self.running.pop(number), self.pen.at
        area = kind(finding.code).area
        fabric = area is Area.FABRIC
        began = at - self.pen.random.uniform(20, 400)
        origin = Event(began, area, Role.CAUSE, finding.code, finding.message, node=node,
                       component=finding.component, source="kernel log, pushed")  # fmt: skip
        others = [name for name in job.nodes if name != node]
        symptom = Event(
            at - 5, Area.UNKNOWN, Role.SYMPTOM, "job.nccl", "a collective did not end within its time limit",
            node=others[0], rank=plan.GPUS, line="Watchdog caught collective operation timeout: ALLREDUCE",
            source="the job's output",
        )  # fmt: skip
        warm = Event(began - 1_900, Area.HARDWARE, Role.CONTEXT, "gpu.sw_thermal_slowdown",
                     "the driver slowed a GPU for heat", node=node, source="check gpu_clocks")  # fmt: skip
        drained = Event(at + 12, Area.HARDWARE, Role.CONTEXT, "node.drained",
                        "it takes no new work", node=node, source="fleet-runner")  # fmt: skip
        ended = self._ended(job, "FAILED" if fabric else "NODE_FAIL", "1:0")
        words = "Fabric" if fabric else "Hardware"
        self.answers.append(
            Answer(
                ended, area, f"{words}: it began at {node}, {finding.message}.", origin, symptom,
                timeline=(warm, origin, symptom, drained), exclude=(node,),
                done=(f"{node} was taken out of service.",) if not fabric else (),
                todo=(f"resubmit without {node}",),
            )
        )  # fmt: skip

    def _failed(self, job: Job) -> None:
        at = self.pen.at
        origin = Event(at - 30, Area.SOFTWARE, Role.CAUSE, "job.exception", "RuntimeError: shape mismatch", rank=3,
                       node=job.nodes[0], line="RuntimeError: shape mismatch", source="the job's output")  # fmt: skip
        ended = self._ended(job, "FAILED", "1:0")
        said = "Software: an exception in rank 3 ended it."
        self.answers.append(Answer(ended, Area.SOFTWARE, said, origin, timeline=(origin,), todo=("mend the job",)))

    def _job(self, number: int, nodes: tuple[str, ...]) -> Job:
        name = f"sim-{NAMES[number % len(NAMES)]}"
        return Job(
            str(number), nodes, self.pen.at, None, "slurm", name, "simulated user", gpus=plan.GPUS * len(nodes)
        )

    def _ended(self, job: Job, state: str, code: str) -> Job:
        return Job(job.id, job.nodes, job.begun, self.pen.at, job.scheduler, job.name, job.owner, "", state, code,
                   gpus=job.gpus)  # fmt: skip
