"""Rendered training sets: views, crops and strips with labels."""
