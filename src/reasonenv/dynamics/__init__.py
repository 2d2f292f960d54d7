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
