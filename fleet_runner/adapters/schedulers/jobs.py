"""Jobs, asked of whichever scheduler the settings name."""

from dataclasses import replace

from fleet_runner.adapters.schedulers import kubeconfig_of, slurm_job
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.jobs.record import Record
from fleet_runner.settings import Settings


def read(settings: Settings, job: str) -> Record:
    """Return a job as the scheduler of the settings tells it.

    Raises:
        SettingsError: there is no scheduler, or it cannot be used.
        SchedulerError: it does not know the job, or cannot be asked.
    """
    match settings.scheduler:
        case "none":
            raise SettingsError(
                f"scheduler is none, so nobody can be asked about job {job:.80}; give its nodes and times instead"
                " (`--node --from --to`), or name the scheduler in fleet.toml"
            )
        case "slurm":
            return slurm_job.read(job)
        case "kubernetes":
            from fleet_runner.adapters.schedulers import kubernetes, kubernetes_job  # noqa: PLC0415  need an extra

            cluster, _, name = job.rpartition(":")
            found = kubernetes_job.read(kubernetes.opened(kubeconfig_of(settings, cluster)), name)
            return replace(found, job=replace(found.job, id=f"{cluster}:{name}")) if cluster else found
