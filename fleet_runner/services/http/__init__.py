"""HTTP as every service here speaks it: uvicorn with bounds, whole answers, TLS, and limits for each address."""
