"""Images with labels: the table renderer and the shift simulator."""
