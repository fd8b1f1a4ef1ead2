"""Reports and pages written as files, and scores against the truth."""
