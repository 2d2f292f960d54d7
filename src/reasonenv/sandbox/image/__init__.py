"""What goes into the sandbox's image: standard library only, run by the image's own interpreter.

* `supervisor`: the root process that takes jobs, one at a time, and leaves nothing behind.
* `job`: forks, limits, timers; `functions`, `scripts`: the two kinds of jobs.
* `candidate`: the untrusted side; `tester`: the trusted side that evaluates the tests.
* `codec`: plain data between the two, and frames on pipes.

Nothing here imports the rest of reasonenv: the files are copied into the image as they are.
"""
