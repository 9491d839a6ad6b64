"""One job, from Slurm's accounting: sacct, as it is set up here."""

from functools import partial

from fleet_runner.adapters.schedulers import sacct
from fleet_runner.core.base.errors import EvidenceError, SchedulerError
from fleet_runner.core.checks.parsers import slurm_job
from fleet_runner.core.jobs.record import Record


def read(job: str) -> Record:
    """Return a job by its number, as a person types it ("4711", "4711_3", "4711+1").

    SchedulerError where Slurm knows none, keeps no accounts, or cannot be asked.
    """
    try:
        number = slurm_job.asked(job)
    except EvidenceError as error:
        raise SchedulerError(f"Slurm: {error}") from error
    fields = slurm_job.FIELDS
    while True:
        parse = partial(slurm_job.parse, wanted=number, fields=fields)
        try:
            return sacct.ask(("--duplicates", f"--jobs={number}"), fields, parse)
        except SchedulerError as error:
            absent = [
                name
                for name in slurm_job.NEWER
                if name in fields and f'Invalid field requested: "{name}"' in str(error)
            ]
            if not absent:
                raise
            fields = tuple(name for name in fields if name not in absent)
