"""What training did: to the weights, to the activations, to the reward, and whether it is healthy.

* `weights/`: displacement, rank, sparsity, principal directions of an update; from LoRA's factors.
* `tracker`: `DisplacementTracker`, the same during training.
* `activations`: shift of the hidden states by layer, KL by token, adapter on against off.
* `groups`: mixed groups, advantage variance and difficulty weighting, predicted and measured.
* `oscillator/`: the reduced-order model of a reward curve, its nulls, and a testbed.
* `health`, `watch`: the known ways in which a run goes wrong, as checks, also while it trains.
* `runs`, `report/`: reading runs, and the page of pictures (`reasonenv dynamics`).

Groups, oscillator and health need numpy alone; what needs torch imports it when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reasonenv.extras import need

if TYPE_CHECKING:
    from reasonenv.dynamics.activations import ActivationShift, activation_shift
    from reasonenv.dynamics.groups import measure_groups
    from reasonenv.dynamics.health import Finding, HealthLimits, check_health
    from reasonenv.dynamics.oscillator import OscillatorModel, SoftmaxBandit, compare
    from reasonenv.dynamics.report.page import write_dynamics
    from reasonenv.dynamics.tracker import DisplacementTracker
    from reasonenv.dynamics.watch import HealthWatch
    from reasonenv.dynamics.weights.analysis import analyse_adapter, analyse_models

_HOME = {
    "ActivationShift": "activations",
    "DisplacementTracker": "tracker",
    "Finding": "health",
    "HealthLimits": "health",
    "HealthWatch": "watch",
    "OscillatorModel": "oscillator",
    "SoftmaxBandit": "oscillator",
    "activation_shift": "activations",
    "analyse_adapter": "weights.analysis",
    "analyse_models": "weights.analysis",
    "check_health": "health",
    "compare": "oscillator",
    "measure_groups": "groups",
    "write_dynamics": "report.page",
}
_NEEDS = {
    "activations": ("torch",),
    "tracker": ("torch", "transformers"),
    "watch": ("transformers",),
    "weights.analysis": ("torch",),
}

__all__ = [
    "ActivationShift",
    "DisplacementTracker",
    "Finding",
    "HealthLimits",
    "HealthWatch",
    "OscillatorModel",
    "SoftmaxBandit",
    "activation_shift",
    "analyse_adapter",
    "analyse_models",
    "check_health",
    "compare",
    "measure_groups",
    "write_dynamics",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for.

    Raises:
        MissingExtraError: it needs torch or transformers, which is not installed.
    """
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for package in _NEEDS.get(_HOME[name], ()):
        need(package, extra="train", by="reasonenv.dynamics")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
