"""The nightly analyses, and the alarms that they raise."""
