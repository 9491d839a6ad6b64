"""The demo's past: 90 days of a simulated hall beside the lab's eight servers, written as the product would have."""
