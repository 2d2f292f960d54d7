"""What a finished run suggests to try next, as a study that runs baseline and treatments.

* `limits`: the thresholds; `evidence`: what a run's files say.
* `placement`, `objective`, `shaping`: the rules, each with a reason and a figure.
* `contribution`: how much each layer contributes, measured by training it alone.
* `write`: the study file.
"""
