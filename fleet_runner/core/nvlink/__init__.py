"""NVLink domains: racks of GPUs that are one machine, such as a GB200 NVL72."""
