"""fleet-runner cabling: designed cables against plugged ones, from files or from the fabric itself."""
