"""A benchmark of money over simulated shifts: filmed, enrolled, audited and scored."""
