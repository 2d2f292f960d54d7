"""A pool of killable worker processes, for judging that could hang, eat memory or crash.

* `WorkerPool`: `run`, `submit` and `map` jobs, each with a deadline that its caller's side keeps.
* `default_pool`: this process's own pool, also after a fork.

Of the modules, `core` is the face, `engine` the queue and the threads, `worker` the parent's end
of one process, and `child` what that process runs. The errors are `WorkerTimeout`, `WorkerDied`
and `PoolUnavailableError` of `reasonenv.errors`.
"""

from reasonenv.checkers.pool.core import WorkerPool, default_pool

__all__ = ["WorkerPool", "default_pool"]
