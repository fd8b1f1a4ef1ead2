"""The banker's button or dice cup: its sample, and finding it on the felt."""
