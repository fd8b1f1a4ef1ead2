"""Alerts: their form, the judging of rounds, and webhooks."""
