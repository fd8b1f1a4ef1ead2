"""Export of trained networks, checked, with a model card."""
