"""The forms of the JSON API."""
