"""What a node needs to run a chain of tests: the programs that the action hands to fleet_job."""

from tests.playing import PROJECT

FILES = PROJECT / "roles/active/files"

SUPERVISOR = {name: (FILES / name).read_text() for name in ("supervise.py", "watch.py")}
"""The texts of what runs the jobs, by their names."""
