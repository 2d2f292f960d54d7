"""What starts the ranks of one machine: torchrun, with the failures of its ranks written down.

`python -m reasonenv.trainers.agent [torchrun's options] -m reasonenv.trainers.worker RUN`. It takes
the options of torchrun and runs it; the exit status is torchrun's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from torch.distributed import run
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

from reasonenv.trainers.failures import note_node

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run torchrun's agent; ranks that failed are noted in the run directory."""
    arguments = run.parse_args(argv)
    try:
        run.run(arguments)
    except ChildFailedError as error:
        exits = {int(rank): int(one.exitcode) for rank, one in error.failures.items()}
        note_node(Path(arguments.training_script_args[0]), int(arguments.node_rank), exits)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
