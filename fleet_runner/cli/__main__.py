"""python -m fleet_runner.cli is fleet-runner."""

from fleet_runner.cli import main

main()
