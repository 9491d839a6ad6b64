"""One ticket per physical fix: its words, work orders, RMA cases, trackers and notifications."""
