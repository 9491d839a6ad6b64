"""A tenant's job: keeps the GPUs in use until it is stopped; `fleet-runner lab job start` starts it."""

import os
import signal
import time

from fleet_runner.lab.tools.node import Node, using_gpus


def run(node: Node, args: list[str]) -> int:
    """Hold the GPUs for the seconds given (a day by default) or until the process is ended."""
    note = using_gpus(node, "tenant_job")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        time.sleep(float(args[0]) if args else 86_400.0)
    except KeyboardInterrupt:
        return 0
    finally:
        os.unlink(note)
    return 0
