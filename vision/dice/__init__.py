"""Dice on the tray of a dice cup: finding them and reading their upper faces."""
