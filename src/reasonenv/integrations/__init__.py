"""Thin adapters to other libraries, one file each.

* `trl`: an environment and its reward as a reward function for TRL's own trainer.
"""
