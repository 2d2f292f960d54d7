"""Thin adapters to other libraries, one file each.

* `verl`: environments as rows and reward function of verl.
* `verifiers`: environments as a taskset of verifiers (v1).
* `reasoning_gym`: reasoning_gym's data sets as environments.
"""
