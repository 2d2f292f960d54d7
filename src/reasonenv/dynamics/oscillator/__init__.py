"""The reduced-order model of a reward curve: a damped oscillator, its nulls, and a testbed.

Source of the model: arXiv 2606.30789 ("Predictable GRPO"), whose equations are derived anew here:
heavy-ball momentum mu on the mean reward with curvature K, learning rate eta, gain a = eta K and a
gradient that is tau updates late,

    R_{t+1} = R_t + mu (R_t - R_{t-1}) + a (R* - R_{t-tau}),

is to second order  M R'' + Gamma R' + a (R - R*) = 0  with  M = (1 + mu + a tau^2) / 2  and
Gamma = (1 - mu) - a tau: momentum is mass, lag takes damping away.

* `shapes`: the step response, and the curves that it has to beat.
* `fitting`: least squares, linear in start and plateau.
* `model`: `OscillatorModel`. `comparison`: AICc and extrapolation from the first third.
* `stability`: exact thresholds of gain, lag and refresh. `noise`: fluctuation against group size.
* `bandit`: a softmax bandit where the linear recurrence is exact.
"""

from reasonenv.dynamics.oscillator.bandit import SoftmaxBandit
from reasonenv.dynamics.oscillator.comparison import Comparison, compare
from reasonenv.dynamics.oscillator.model import OscillatorModel
from reasonenv.dynamics.oscillator.noise import noise_exponent, stationary_variance
from reasonenv.dynamics.oscillator.stability import (
    continuous_equivalent,
    critical_gain,
    critical_refresh_gain,
)

__all__ = [
    "Comparison",
    "OscillatorModel",
    "SoftmaxBandit",
    "compare",
    "continuous_equivalent",
    "critical_gain",
    "critical_refresh_gain",
    "noise_exponent",
    "stationary_variance",
]
