"""`Cluster`: which machines a run takes, and which of them this one is.

One command starts a run on each machine: `reasonenv train RECIPE --out DIR --nodes N --rank R
--master ADDR:PORT`. Under SLURM's `srun` all three are read from its variables. The machines share
the run directory: the first makes it, and all ranks read and write their checkpoints there.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from reasonenv.errors import LaunchError

__all__ = ["Cluster", "cluster_of"]

_SLURM_PORTS = (20_000, 20_000)  # first port, and how many: chosen by the job's number


@dataclass(frozen=True, slots=True)
class Cluster:
    """The machines of a run.

    Attributes:
        nodes: how many.
        rank: which of them this is, from 0.
        address: of the first one, as the others reach it.
        port: of the first one, where all meet.
    """

    nodes: int = 1
    rank: int = 0
    address: str = ""
    port: int = 0

    def options(self) -> list[str]:
        """Return torchrun's options of how the ranks find each other."""
        if self.nodes == 1:
            return ["--standalone"]  # a free port each, so that two runs do not meet
        return [
            *("--nnodes", str(self.nodes), "--node-rank", str(self.rank)),
            *("--master-addr", self.address, "--master-port", str(self.port)),
        ]

    def check_port(self) -> None:
        """Refuse a port of this machine that something listens on; others are not asked.

        Raises:
            LaunchError: the port is in use, or may not be used.
        """
        if self.nodes == 1 or self.rank:
            return
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", self.port))
                return
            except OSError as error:
                reason = error.strerror
        with socket.socket() as probe:
            probe.bind(("", 0))
            free = probe.getsockname()[1]
        raise LaunchError(
            f"port {self.port} of this machine cannot be used ({reason}): give --master "
            f"{self.address}:PORT another one on all machines; {free} is free here now"
        )


def cluster_of(
    nodes: int | None = None,
    rank: int | None = None,
    master: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Cluster:
    """Return the machines of a run, from options or from SLURM's variables.

    Args:
        nodes: how many; None takes the number of `srun`'s step, or 1.
        rank: which one this is; None takes `SLURM_NODEID`.
        master: `ADDR:PORT` of the first; None takes the step's first machine, and a port by the
            job's number.
        environment: None takes the process'.

    Raises:
        LaunchError: something is missing or not valid.
    """
    variables = os.environ if environment is None else environment
    step = _step_of(variables)
    if nodes is None:
        nodes = int(step["SLURM_STEP_NUM_NODES"]) if step else 1
    if nodes < 1:
        raise LaunchError(f"--nodes {nodes}: at least 1 is needed")
    if nodes == 1:
        if rank or master:
            raise LaunchError("--rank and --master are of runs with --nodes above 1")
        return Cluster()
    if rank is None and step:
        rank = int(step["SLURM_NODEID"])
    if rank is None:
        raise LaunchError(f"--nodes {nodes}: give --rank too: 0 on the first machine, 1 ...")
    if not 0 <= rank < nodes:
        raise LaunchError(f"--rank {rank}: valid with --nodes {nodes}: 0 to {nodes - 1}")
    if master is None and step:
        first, count = _SLURM_PORTS
        port = first + int(step.get("SLURM_JOB_ID", "0")) % count
        return Cluster(nodes, rank, first_host(step["SLURM_STEP_NODELIST"]), port)
    address, _, port_text = (master or "").rpartition(":")
    if not address or not port_text.isdigit() or not 0 < int(port_text) < 65_536:
        raise LaunchError(
            f"--master {master or '(missing)'}: write ADDR:PORT, the first machine's name or "
            "address and a free port of it, the same on all machines; such as node0:29500"
        )
    return Cluster(nodes, rank, address.strip("[]"), int(port_text))


def _step_of(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return SLURM's variables inside a step that `srun` started; empty outside of one."""
    wanted = ("SLURM_STEP_NUM_NODES", "SLURM_NODEID", "SLURM_STEP_NODELIST")
    if any(name not in variables for name in wanted):
        return {}
    tasks = variables.get("SLURM_STEP_NUM_TASKS", variables["SLURM_STEP_NUM_NODES"])
    if int(tasks) > int(variables["SLURM_STEP_NUM_NODES"]):
        raise LaunchError(
            f"srun started {tasks} tasks on {variables['SLURM_STEP_NUM_NODES']} machines, and each "
            "would start all ranks of its machine: use srun --ntasks-per-node=1"
        )
    return variables


def first_host(nodes: str) -> str:
    """Return the first machine of a list as SLURM writes it.

    >>> first_host("gpu[03-05,9],cpu1"), first_host("a-1,a-2"), first_host("r[1-2]n[01-02].x")
    ('gpu03', 'a-1', 'r1n01.x')
    """
    inside, end = 0, len(nodes)
    for i, character in enumerate(nodes):
        inside += (character == "[") - (character == "]")
        if character == "," and not inside:
            end = i
            break
    return re.sub(r"\[([^\],-]+)[^\]]*\]", r"\1", nodes[:end])
