"""What every rule brings by which readings of indices become cards."""
