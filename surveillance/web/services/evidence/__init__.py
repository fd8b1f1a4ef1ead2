"""Evidence files of alerts, and what is cut out of them."""
