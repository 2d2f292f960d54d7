"""Thin adapters to other libraries, one file each.

* `trl`: an environment and its reward as a reward function for TRL's own trainer.
* `verl`: environments as rows and reward function of verl.
* `verifiers`: environments as a taskset of verifiers (v1).
* `reasoning_gym`: reasoning_gym's data sets as environments.
"""
