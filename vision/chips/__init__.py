"""Chips on the felt: stacks unrolled from their side, read and followed over a round."""
