"""One job, from Kubernetes: a Job, a JobSet, or one of Kubeflow's operators, by the labels of its pods."""

from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.base.errors import EvidenceError, SchedulerError
from fleet_runner.core.checks.parsers import kubernetes_job
from fleet_runner.core.jobs.record import Record


def read(cluster: Kubernetes, job: str) -> Record:
    """Return a job by its namespace and name ("team-a/pretrain"), as far as its pods are still there.

    SchedulerError where there are none, or Kubernetes cannot be asked. The right to list pods is all it takes.
    """
    try:
        wanted = kubernetes_job.asked(job)
        for label, kind in kubernetes_job.LABELS.items():
            pods = cluster.labelled(wanted.namespace, label, wanted.name, kubernetes_job.MOST_PODS)
            if pods:
                return kubernetes_job.parse(wanted, kind, pods)
    except EvidenceError as error:
        raise SchedulerError(f"Kubernetes: {error}") from error
    raise SchedulerError(
        f"Kubernetes has no pods of a job {job}; were they deleted with it? Give `--node --from --to` in its place"
    )
