"""Unrolled sides of chip stacks, rendered to train the stack reader on."""
