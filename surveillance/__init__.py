"""The surveillance room: audit, alerts, evidence, reports and the command line."""
