"""What somebody pastes: logs and reports, told apart by their content and judged by the checks there are."""
