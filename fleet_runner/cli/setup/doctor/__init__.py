"""What a first or a broken installation needs, looked at part by part; nothing is changed."""
