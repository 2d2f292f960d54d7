"""Looking at a run's rollouts, group by group: on a terminal, or as one HTML page.

* `groups`: `RolloutGroup`, and the filters: unscored, flipped by shaping, suspected hacks.
* `terminal`, `page`: the two ways to show them.
"""
